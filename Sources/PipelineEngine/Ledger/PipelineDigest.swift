import CSV
import Foundation

extension PipelineDefinition {
  /// Distinguishes ways of reading an input: a digest of what in the definition decides which entries a record makes.
  ///
  /// Names, paths, chunk sizes, limits and reports do not count. Omitted keys do not count either, so a later version
  /// of this program with more keys gives an old definition the same digest.
  var digest: ContentDigest {
    let hash = ContentHash()
    let data = try? JSONEncoder().encode(self)
    // Only a definition that was not read from a file can be nested too deeply for the parser.
    let parsed = data.flatMap { (try? JSONValue(parsing: $0)) ?? (try? JSONDecoder().decode(JSONValue.self, from: $0)) }
    if var tree = parsed {
      if case .object(var members) = tree {
        members = members.filter { Self.meaningfulKeys.contains($0.key) }
        members["model"] = .string(modelName)
        tree = .object(members)
      }
      hash.update(Array(tree.canonicalText.utf8))
    }
    return hash.digest
  }

  private static let meaningfulKeys: Set<String> = [
    "dialect", "columns", "recordRules", "key", "duplicates", "model", "entity",
  ]
}

extension JSONValue {
  /// Members that hold a user's own data, where an empty text or `false` is a value like any other.
  private static let dataKeys: Set<String> = ["is", "isNot", "oneOf", "value", "values", "with"]

  /// The value as text that is the same for the same meaning: sorted keys, without empty members.
  fileprivate var canonicalText: String { text(isData: false) }

  private func text(isData: Bool) -> String {
    switch self {
    case .null: return "null"
    case .bool(let flag): return flag ? "true" : "false"
    case .number(let number): return "\(number)"
    case .string(let text): return "\(text.utf8.count):\(text)"
    case .array(let items): return "[" + items.map { $0.text(isData: isData) }.joined(separator: ",") + "]"
    case .object(let members):
      let parts = members.sorted { $0.key < $1.key }.compactMap { key, value -> String? in
        let isData = isData || Self.dataKeys.contains(key)
        if value == .null || !isData && value.saysNothing { return nil }
        return "\(key.utf8.count):\(key)=\(value.text(isData: isData))"
      }
      return "{" + parts.joined(separator: ",") + "}"
    }
  }

  private var saysNothing: Bool {
    switch self {
    case .null, .bool(false), .string(""): true
    case .array(let items): items.isEmpty
    case .object(let members): members.isEmpty
    case .bool, .number, .string: false
    }
  }
}
