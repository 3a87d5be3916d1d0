import CSQLite
import ManagedObjectModel

extension SQLiteConnection {
  /// The triggers that a file has for derived attributes.
  func derivationTriggers() throws -> [(name: String, text: String)] {
    try rows("SELECT name, sql FROM main.sqlite_master WHERE type = 'trigger' AND substr(name, 1, 5) = 'Z_DA_'")
      .compactMap { row in
        guard case .text(let name) = row[0], case .text(let text) = row[1] else { return nil }
        return (name, text)
      }
  }

  /// Registers the functions that triggers of derived attributes call and that no published store shows. What such a
  /// function computes follows from the attribute's derivation. A name that stands for two functions, or occurs in the
  /// trigger of another derivation, stays unknown, and the store can't be written to.
  func registerDerivationFunctions(of entities: [NSEntityDescription]) throws {
    let attributes = entities.flatMap(\.storedAttributes).compactMap { $0 as? NSDerivedAttributeDescription }
    guard !attributes.isEmpty else { return }
    var meanings: [String: Set<ScalarFunction?>] = [:]
    for trigger in try derivationTriggers() {
      let attribute = attributes.first { trigger.name.contains("_\($0.owner?.name ?? "")_\($0.name)_") }
      for name in try unknownFunctions(in: trigger.text) { meanings[name, default: []].insert(attribute?.textFunction) }
    }
    for (name, functions) in meanings {
      guard functions.count == 1, let function = functions.first ?? nil else { continue }
      let code = ExpressionFunctions.register(function, as: name, argumentCount: 1, on: handle)
      guard code == SQLITE_OK else { throw SQLiteError(handle, code: code, sql: nil) }
    }
  }

  /// The names of the functions of Apple's framework in a text that this connection does not have.
  private func unknownFunctions(in text: String) throws -> Set<String> {
    let names = Set(text.matches(of: #/\b(NSCoreData\w+)\s*\(/#).map { String($0.output.1) })
    return try names.filter { name in
      try integer("SELECT 1 FROM pragma_function_list WHERE name = ? COLLATE NOCASE LIMIT 1", [.text(name)]) == nil
    }
  }
}

extension NSDerivedAttributeDescription {
  /// The function of a text that derives the attribute; nil for another derivation.
  fileprivate var textFunction: ScalarFunction? {
    guard case .call(let name, _) = derivation, let function = ScalarFunction(rawValue: name) else { return nil }
    return [.canonical, .lowercase, .uppercase].contains(function) ? function : nil
  }
}
