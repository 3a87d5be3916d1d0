import Foundation

/// Collects every mistake of a definition, so that they are reported together.
package final class MistakeList {
  private let sourceMap: SourceMap
  private var found: [(mistake: PipelineError.Mistake, document: Int)] = []
  /// Key paths of the mistakes in the merged tree; inherited values have other key paths in their own file.
  package private(set) var paths: Set<String> = []
  /// How many of them say that the disk failed, not that the document is wrong.
  private var diskFailures = 0
  /// Locations of texts that are already reported, by document.
  private var unreadable: [Int: Set<SourceLocation>] = [:]
  /// The keys that each object read so far accepts, by its key path without indices.
  private(set) var acceptedKeys: [String: Set<String>] = [:]

  package init(_ sourceMap: SourceMap = SourceMap()) {
    self.sourceMap = sourceMap
  }

  package var mistakes: [PipelineError.Mistake] { found.map(\.mistake) }

  /// The key path of the part that is read; empty for the definition itself.
  private var prefix = ""

  /// Makes the paths in `body` those of the part at `path`.
  package func within<Result>(_ path: String, _ body: () throws -> Result) rethrows -> Result {
    let outer = prefix
    prefix = whole(path)
    defer { prefix = outer }
    return try body()
  }

  private func whole(_ path: String) -> String {
    prefix.isEmpty ? path : path.isEmpty ? prefix : "\(prefix).\(path)"
  }

  /// Whether there are mistakes in the member `key`.
  package func isWrong(_ key: String) -> Bool { paths.contains { $0.hasPrefix(whole(key)) } }

  /// Adds the mistakes of a part that is checked by itself.
  package func add(_ error: PipelineError) {
    for mistake in error.mistakes {
      let count = found.count
      add(mistake.path, mistake.message)
      if error.isOfDisk { diskFailures += found.count - count }
    }
  }

  /// The mistakes as an error of `file`. It is of the disk if the document may be right: no mistake has another cause.
  package func error(in file: String?) -> PipelineError {
    var error = PipelineError(file: file, mistakes: sorted)
    error.isOfDisk = diskFailures > 0 && diskFailures == found.count
    return error
  }

  package func add(_ path: String, _ message: String) {
    let path = whole(path)
    let origin = sourceMap.origin(of: path)
    paths.insert(path)
    if let origin, let location = origin.location, unreadable[origin.document]?.contains(location) == true { return }
    found.append((sourceMap.mistake(path, message), origin?.document ?? 0))
  }

  package func add(_ origin: LocatedValue.Origin, _ message: String) {
    found.append((sourceMap.mistake(at: origin, message), origin.document))
  }

  /// Reports a text that can't be used and suppresses further mistakes about it.
  func addUnreadable(_ origin: LocatedValue.Origin, _ message: String) {
    add(origin, message)
    if let location = origin.location { unreadable[origin.document, default: []].insert(location) }
  }

  func noteKeys(_ keys: [String], of path: String) {
    acceptedKeys[DefinitionPath.pattern(whole(path)), default: []].formUnion(keys)
  }

  /// Whether the document contains this key path. (A dialect's name, for example, implies columns that the document
  /// does not contain.)
  func contains(_ path: String) -> Bool { sourceMap.origins[whole(path)] != nil }

  /// The mistakes in the order of the document where locations are known; those of the definition before those of its
  /// base.
  package var sorted: [PipelineError.Mistake] {
    found.enumerated().sorted { left, right in
      let (a, b) = (left.element.mistake, right.element.mistake)
      return (left.element.document, a.line ?? 0, a.column ?? 0, left.offset)
        < (right.element.document, b.line ?? 0, b.column ?? 0, right.offset)
    }
    .map(\.element.mistake)
  }
}

/// Reads the members of one JSON object by key and type; it records mismatches and continues.
package struct ObjectReader {
  let path: String
  let mistakes: MistakeList
  private let members: [String: JSONValue]

  /// `nil`, with a mistake recorded, if `value` is not an object. Keys other than `keys` are recorded with a
  /// suggestion.
  init?(_ value: JSONValue, path: String, keys: [String], mistakes: MistakeList) {
    guard case .object(let members) = value else {
      mistakes.add(path, "expected an object {…} with the keys \(Self.list(keys)), found \(value.kind)")
      return nil
    }
    self.members = members
    self.path = path
    self.mistakes = mistakes
    mistakes.noteKeys(keys, of: path)
    for key in members.keys.sorted() where !keys.contains(key) {
      let hint = NearestName.of(key, in: keys).map { "did you mean '\($0)'?" } ?? "known are \(Self.list(keys))"
      mistakes.add(self.path(key), "unknown key '\(key)'; \(hint)")
    }
  }

  func path(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  func note(_ key: String, _ message: String) { mistakes.add(path(key), message) }

  /// The member, or nil for an absent one and an explicit null.
  func value(_ key: String) -> JSONValue? {
    members[key] == .null ? nil : members[key]
  }

  func isNull(_ key: String) -> Bool { members[key] == .null }

  func string(_ key: String) -> String? {
    guard let value = value(key) else { return nil }
    guard case .string(let text) = value else { return refuse(key, value, expected: "a text in quotes") }
    guard !text.isEmpty else {
      note(key, "is empty; give a text or leave '\(key)' out")
      return nil
    }
    return text
  }

  func bool(_ key: String) -> Bool? {
    guard let value = value(key) else { return nil }
    guard case .bool(let flag) = value else { return refuse(key, value, expected: "true or false") }
    return flag
  }

  func number(_ key: String) -> Double? {
    guard let value = value(key) else { return nil }
    guard case .number(let number) = value, number.isFinite else { return refuse(key, value, expected: "a number") }
    return number
  }

  func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
    guard let value = value(key) else { return nil }
    let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    guard case .number(let number) = value, let whole = Int(exactly: number) else {
      return refuse(key, value, expected: expected)
    }
    guard range.contains(whole) else {
      note(key, "expected \(expected), found \(whole)")
      return nil
    }
    return whole
  }

  /// A list of texts; a single text is a list of one.
  func strings(_ key: String, emptyAllowed: Bool = false) -> [String]? {
    guard let value = value(key) else { return nil }
    if case .string(let text) = value {
      if !emptyAllowed, text.isEmpty { note(key, "is empty; give a text or leave '\(key)' out") }
      return text.isEmpty && !emptyAllowed ? nil : [text]
    }
    guard case .array(let items) = value else { return refuse(key, value, expected: "a text or a list of texts") }
    var texts: [String] = []
    for (index, item) in items.enumerated() {
      if case .string(let text) = item, emptyAllowed || !text.isEmpty {
        texts.append(text)
      } else {
        let found = item == .string("") ? "an empty one" : item.kind
        mistakes.add("\(path(key))[\(index)]", "expected a text in quotes, found \(found)")
      }
    }
    return texts
  }

  /// One of the raw values of `Choice`.
  func choice<Choice: RawRepresentable & CaseIterable>(
    _ key: String, _ type: Choice.Type
  ) -> Choice? where Choice.RawValue == String {
    guard let text = string(key) else { return nil }
    if let choice = Choice(rawValue: text) { return choice }
    let names = Choice.allCases.map(\.rawValue)
    let hint = NearestName.hint(for: text, in: names)
    note(key, "'\(text)' is none of \(Self.list(names))\(hint)")
    return nil
  }

  /// The items of a list, each with its key path.
  func items(_ key: String) -> [(value: JSONValue, path: String)]? {
    guard let value = value(key) else { return nil }
    guard case .array(let items) = value else { return refuse(key, value, expected: "a list […]") }
    return items.enumerated().map { ($1, "\(path(key))[\($0)]") }
  }

  /// Records that the key is missing, if it is.
  func needed<Value>(_ key: String, _ value: Value?) -> Value? {
    if self.value(key) == nil {
      note(key, "is missing; the \(self.value("transform") == nil ? "rule" : "transform") needs it")
    }
    return value
  }

  /// A regular expression under `key`.
  func expression(_ key: String) -> String? {
    guard let text = needed(key, string(key)) else { return nil }
    if (try? NSRegularExpression(pattern: text)) != nil { return text }
    note(key, "'\(text)' is not a valid ICU regular expression; check its brackets and backslashes")
    return nil
  }

  private func refuse<Value>(_ key: String, _ value: JSONValue, expected: String) -> Value? {
    note(key, "expected \(expected), found \(value.kind)")
    return nil
  }

  package static func list(_ names: [String]) -> String {
    names.map { "'\($0)'" }.joined(separator: ", ")
  }
}
