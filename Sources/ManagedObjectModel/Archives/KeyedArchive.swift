import Foundation

/// A keyed archive read as data: its contents are never instantiated as objects of the classes that it names.
///
/// Accessors take names and return nil for missing contents and other kinds, so that neither classes of future
/// frameworks nor damaged files can do harm.
struct KeyedArchive {
  /// Null, then the objects. Objects with a class are dictionaries that refer to the class under `$class`.
  let objects: [ArchiveValue]
  private let top: [String: ArchiveValue]

  /// - Throws: The reason why the data is not a keyed archive.
  init(_ data: Data) throws(ArchiveProblem) {
    guard !data.isEmpty else { throw ArchiveProblem("it is empty") }
    guard let list = try Self.binary(data).dictionary else {
      throw ArchiveProblem("its top element is not a dictionary")
    }
    guard list["$archiver"] == .text("NSKeyedArchiver"), let objects = list["$objects"]?.list, objects.count > 1 else {
      throw ArchiveProblem("it is a property list, but not a keyed archive")
    }
    self.objects = objects
    top = list["$top"]?.dictionary ?? [:]
  }

  /// Archives may be XML; Foundation reads them and writes them again in the binary form that this type can inspect.
  private static func binary(_ data: Data) throws(ArchiveProblem) -> ArchiveValue {
    if BinaryPropertyListReader.isOne(data) { return try BinaryPropertyListReader.read(data) }
    let list = try PropertyListData.xml(data)
    guard list is [String: Any],
      let rewritten = try? PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    else { throw PropertyListData.notOne }
    return try BinaryPropertyListReader.read(rewritten)
  }

  /// The archived object. Archives of a single object store it under `root`.
  var root: ArchiveValue { top["root"] ?? top.values.first ?? .null }

  // MARK: Inspection

  /// An object with its class and its index in the object table. The index distinguishes two references to one object
  /// from two objects.
  struct Object {
    let index: Int
    let className: String
    let values: [String: ArchiveValue]
  }

  /// The value that `value` refers to; null for a reference to null or to an invalid index.
  func resolved(_ value: ArchiveValue?) -> ArchiveValue {
    guard case .reference(let index)? = value else { return value ?? .null }
    // The first index stands for nil. A reference in place of an object is damage.
    guard objects.indices.contains(index), index != 0 else { return .null }
    if case .reference = objects[index] { return .null }
    return objects[index]
  }

  func object(_ value: ArchiveValue?) -> Object? {
    guard case .reference(let index)? = value, let values = resolved(value).dictionary else { return nil }
    guard case .text(let name)? = resolved(values["$class"]).dictionary?["$classname"] else { return nil }
    return Object(index: index, className: name, values: values)
  }

  /// A string, possibly empty.
  func text(_ value: ArchiveValue?) -> String? {
    switch resolved(value) {
    case .text(let text): text
    case .dictionary(let values):
      switch resolved(values["NS.string"] ?? values["NS.bytes"]) {
      case .text(let text): text
      case .data(let data): String(decoding: data, as: UTF8.self)
      default: nil
      }
    default: nil
    }
  }

  func integer(_ value: ArchiveValue?) -> Int? {
    resolved(value).integer.map { Int($0) }
  }

  func flag(_ value: ArchiveValue?) -> Bool { (resolved(value).integer ?? 0) != 0 }

  /// The members of an array, a set or an ordered set.
  func members(_ value: ArchiveValue?) -> [ArchiveValue]? {
    switch resolved(value) {
    case .list(let values): values
    case .dictionary(let values):
      values["NS.objects"]?.list
    default: nil
    }
  }

  /// The entries of a dictionary with text keys, in the order of the archive.
  func entries(_ value: ArchiveValue?) -> [(key: String, value: ArchiveValue)]? {
    guard let values = resolved(value).dictionary else { return nil }
    if let keys = values["NS.keys"]?.list, let objects = values["NS.objects"]?.list {
      return zip(keys, objects).compactMap { key, value in text(key).map { ($0, value) } }
    }
    // The container in which a running model keeps its entities, as models within stores show: slots, and the slot of
    // each key.
    guard let mapping = resolved(values["searchMapping"]).dictionary, let keys = members(mapping["keys"]),
      let slots = members(values["values"])
    else { return nil }
    let empty = text(values["emptyToken"])
    return zip(keys, slots).compactMap { key, value in
      guard let name = text(key), empty == nil || text(value) != empty else { return nil }
      return (name, value)
    }
  }
}
