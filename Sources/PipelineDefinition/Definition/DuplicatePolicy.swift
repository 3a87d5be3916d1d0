/// The treatment of a record whose key already occurs in an earlier record of the input or in an entry of the store.
///
/// In a definition it is a name, or an object `{"policy": NAME, …}` if the policy has parameters.
public enum DuplicatePolicy: Sendable, Hashable {
  /// The record is rejected with a `primary-key` error.
  case reject
  /// The record counts as `duplicate`; the existing entry stays. This is not an error.
  case skip
  /// The entry takes the record's values: of every column that the input has, or of the named ones. A record without
  /// changes counts as `unchanged`, and nothing is written.
  case update(columns: [String]?)
  /// The entry takes the record's values if the record is newer, that is if its value of the attribute `by`, a date
  /// or a number, is greater. An older record counts as `duplicate`, one with the same values as `unchanged`.
  case keepNewest(by: String)

  /// The policy's name in a definition.
  public var name: String {
    switch self {
    case .reject: "reject"
    case .skip: "skip"
    case .update: "update"
    case .keepNewest: "keepNewest"
    }
  }

  /// Whether entries of the store may be changed.
  package var updates: Bool {
    switch self {
    case .reject, .skip: false
    case .update, .keepNewest: true
    }
  }

  static let names = ["reject", "skip", "update", "keepNewest"]
  static let keys = ["policy", "columns", "by"]

  static func read(_ value: JSONValue, path: String, mistakes: MistakeList) -> DuplicatePolicy? {
    var members: [String: JSONValue] = [:]
    switch value {
    case .string(let name): members = ["policy": .string(name)]
    case .object(let object): members = object
    default:
      mistakes.add(path, "expected a policy's name or an object {\"policy\": …}, found \(value.kind)")
      return nil
    }
    guard case .string(let name) = members["policy"] else {
      mistakes.add(path, "'policy' is missing; known are \(ObjectReader.list(names))")
      return nil
    }
    let taken = name == "update" ? ["policy", "columns"] : name == "keepNewest" ? ["policy", "by"] : ["policy"]
    guard names.contains(name) else {
      mistakes.add(path, "'\(name)' is none of \(ObjectReader.list(names))\(NearestName.hint(for: name, in: names))")
      return nil
    }
    guard let reader = ObjectReader(.object(members), path: path, keys: taken, mistakes: mistakes) else { return nil }
    switch name {
    case "reject": return .reject
    case "skip": return .skip
    case "update": return .update(columns: reader.strings("columns"))
    default:
      if let by = reader.string("by") { return .keepNewest(by: by) }
      reader.note("by", "is missing; name the attribute that says which of two records is newer, such as \"date\"")
      return nil
    }
  }
}

extension DuplicatePolicy: Encodable {
  private enum CodingKeys: String, CodingKey {
    case policy, columns, by
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .policy)
    switch self {
    case .reject, .skip: break
    case .update(let columns): try container.encodeIfPresent(columns, forKey: .columns)
    case .keepNewest(let by): try container.encode(by, forKey: .by)
    }
  }
}
