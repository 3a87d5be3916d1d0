import CSV
import Foundation

extension PipelineDefinition {
  /// Tells one way of reading an input from another: what of the definition decides which entries a record makes.
  ///
  /// Names, places, chunk sizes, budgets and reports do not count, nor does what a definition says by leaving it out:
  /// so a later version of this program that knows more keys gives an old definition the same digest.
  var digest: ContentDigest {
    let hash = ContentHash()
    if let data = try? JSONEncoder().encode(self), var tree = try? JSONDecoder().decode(JSONValue.self, from: data) {
      if case .object(var members) = tree {
        members = members.filter { Self.meaningfulKeys.contains($0.key) }
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
  /// The value as text that is the same for the same meaning: keys sorted, nothing that says nothing.
  fileprivate var canonicalText: String {
    switch self {
    case .null: "null"
    case .bool(let flag): flag ? "true" : "false"
    case .number(let number): "\(number)"
    case .string(let text): "\(text.utf8.count):\(text)"
    case .array(let items): "[" + items.map(\.canonicalText).joined(separator: ",") + "]"
    case .object(let members):
      "{"
        + members.filter { !$0.value.saysNothing }.sorted { $0.key < $1.key }
        .map { "\($0.key)=\($0.value.canonicalText)" }.joined(separator: ",") + "}"
    }
  }

  private var saysNothing: Bool {
    switch self {
    case .null, .bool(false), .string(""): true
    case .array(let items): items.isEmpty
    case .object(let members): members.values.allSatisfy(\.saysNothing)
    case .bool, .number, .string: false
    }
  }
}
