import Foundation

/// Checks whether `NSKeyedUnarchiver` can read an archive.
///
/// Where the values of an object are not those that its class expects, Foundation stops the program, reads something
/// else, or returns references, which can't be archived again. Where a member of a dictionary fails, it reads memory that
/// is not the archive's.
struct UnarchivingCheck {
  private let archive: KeyedArchive
  private let classes: [AnyClass]
  /// The objects that were checked, by index.
  private var known: [Int: Part] = [:]
  /// The objects that are being checked.
  private var open: Set<Int> = []
  private var types: [Int: AnyClass] = [:]

  /// An object with the size that it has without sharing.
  private struct Part {
    var height = 1
    var count = 1

    mutating func add(_ part: Part) {
      height = max(height, part.height + 1)
      count += part.count
    }
  }

  /// Foundation reads an object within another one by recursion.
  static let depthMax = 128
  /// What compares or prints values walks through shared objects each time.
  static let countMax = 1 << 22

  /// Whether all objects have one of `classes` or inherit from one, and Foundation can read them.
  static func passes(_ archive: KeyedArchive, as classes: [AnyClass]) -> Bool {
    var check = UnarchivingCheck(archive, classes)
    guard case .reference(let root) = archive.root, archive.objects.indices.contains(root) else { return false }
    if let type = plainType(of: archive.objects[root]), !check.isAllowed(type) { return false }
    return check.part(root, depth: 0) != nil
  }

  private init(_ archive: KeyedArchive, _ classes: [AnyClass]) {
    (self.archive, self.classes) = (archive, classes)
  }

  /// Nil for an object that Foundation can't read.
  private mutating func part(_ index: Int, depth: Int) -> Part? {
    if let part = known[index] { return depth + part.height <= Self.depthMax ? part : nil }
    // An object within itself is read without an end.
    guard depth < Self.depthMax, archive.objects.indices.contains(index), open.insert(index).inserted
    else { return nil }
    defer { open.remove(index) }
    var part = Part()
    if Self.plainType(of: archive.objects[index]) == nil {
      guard let values = archive.objects[index].dictionary, let type = namedType(of: values), isAllowed(type),
        hasExpectedValues(type, values)
      else { return nil }
      var references: [Int] = []
      for (key, value) in values where key != "$class" { Self.collect(value, &references) }
      for reference in references {
        guard let inner = self.part(reference, depth: depth + 1) else { return nil }
        part.add(inner)
        if part.count > Self.countMax { return nil }
      }
    }
    known[index] = part
    return part
  }

  private static func collect(_ value: ArchiveValue, _ references: inout [Int]) {
    switch value {
    case .reference(let index): references.append(index)
    case .list(let values): for value in values { collect(value, &references) }
    case .dictionary(let values): for value in values.values { collect(value, &references) }
    default: return
    }
  }

  // MARK: Classes

  /// The class of an object that is a value itself; nil for one that names its class.
  private static func plainType(of object: ArchiveValue) -> AnyClass? {
    switch object {
    case .text: NSString.self
    case .data: NSData.self
    case .date: NSDate.self
    case .integer, .real, .flag: NSNumber.self
    case .null, .reference, .list, .dictionary: nil
    }
  }

  /// The class that Foundation chooses: the one that is named, or the first of its hints that is there.
  private mutating func namedType(of values: [String: ArchiveValue]) -> AnyClass? {
    guard case .reference(let index)? = values["$class"], archive.objects.indices.contains(index) else { return nil }
    if let type = types[index] { return type }
    guard let description = archive.objects[index].dictionary else { return nil }
    var found: AnyClass?
    if case .text(let name)? = description["$classname"] {
      found = NSKeyedUnarchiver.class(forClassName: name) ?? NSClassFromString(name)
    }
    for case .text(let name) in description["$classhints"]?.list ?? [] where found == nil {
      found = NSClassFromString(name)
    }
    types[index] = found
    return found
  }

  private func isAllowed(_ type: AnyClass) -> Bool { classes.contains { Self.inherits(type, from: $0) } }

  private static func inherits(_ type: AnyClass, from other: AnyClass) -> Bool {
    func isKind<Other>(of other: Other.Type) -> Bool { type is Other.Type }
    return _openExistential(other, do: isKind)
  }

  // MARK: Values

  private mutating func hasExpectedValues(_ type: AnyClass, _ values: [String: ArchiveValue]) -> Bool {
    switch type {
    case is NSDictionary.Type:
      guard let keys = members(values["NS.keys"]), let objects = members(values["NS.objects"]) else { return false }
      return keys.count == objects.count
    case is NSArray.Type, is NSSet.Type: return members(values["NS.objects"]) != nil
    case is NSString.Type: return if case .text? = values["NS.string"] { true } else { false }
    case is NSDate.Type: return values["NS.time"]?.real != nil
    case is NSUUID.Type: return if case .data(let bytes)? = values["NS.uuidbytes"] { bytes.count == 16 } else { false }
    case is NSData.Type: return if case .data? = values["NS.data"] { true } else { false }
    case is NSURL.Type: return isURL(values)
    // Foundation reads any decimal number as 0, and recurses without an end where it archives one.
    case is NSDecimalNumber.Type: return false
    case is NSNumber.Type: return values["NS.number"]?.real != nil || values["NS.number"]?.integer != nil
    default: return true
    }
  }

  /// The references of a list; nil if it has something else, or a reference to null, which Foundation leaves out.
  private func members(_ value: ArchiveValue?) -> [ArchiveValue]? {
    guard let values = value?.list else { return nil }
    return values.allSatisfy { if case .reference = $0 { !isNull($0) } else { false } } ? values : nil
  }

  private func isNull(_ value: ArchiveValue?) -> Bool {
    guard case .reference(let index)? = value, archive.objects.indices.contains(index) else { return false }
    return archive.objects[index] == .text("$null")
  }

  private mutating func isURL(_ values: [String: ArchiveValue]) -> Bool {
    let hasBase = !isNull(values["NS.base"])
    guard !hasBase || isObject(values["NS.base"], NSURL.self), isObject(values["NS.relative"], NSString.self),
      // A byte that is not a character stands for another one in Foundation's reader.
      let text = archive.text(values["NS.relative"]), !text.contains("\u{FFFD}")
    else { return false }
    // A context reads the one as the other, which refuses more: without a check, the conversion stops the program.
    let base = hasBase ? URL(string: "a://b/") : nil
    return NSURL(string: text, relativeTo: base) != nil && URL(string: text, relativeTo: base) != nil
  }

  private mutating func isObject(_ value: ArchiveValue?, _ expected: AnyClass) -> Bool {
    guard case .reference(let index)? = value, archive.objects.indices.contains(index) else { return false }
    let object = archive.objects[index]
    guard let type = Self.plainType(of: object) ?? namedType(of: object.dictionary ?? [:]) else { return false }
    return Self.inherits(type, from: expected)
  }
}
