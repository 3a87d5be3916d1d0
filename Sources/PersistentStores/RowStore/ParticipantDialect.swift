/// What differs between the servers and libraries that keep the tables of save participants. Everything else in their
/// statements is SQL that all of them understand.
package struct ParticipantDialect: Sendable {
  /// What replaces words of SQLite in the definition of a table: the types of its columns.
  private let words: [String: String]
  /// A query for the names and the kinds of the tables and views with some names; the kind of a table is `table`.
  private let known: @Sendable (_ names: String) -> String

  package init(words: [String: String], known: @escaping @Sendable (_ names: String) -> String) {
    (self.words, self.known) = (words, known)
  }

  package static let sqlite = ParticipantDialect(words: [:]) {
    "SELECT name, type FROM sqlite_master WHERE name IN (\($0))"
  }

  /// The definition of a table or of a column, which is written for SQLite.
  package func definition(_ sql: String) -> String {
    var result = ""
    var rest = sql[...]
    while let first = rest.first {
      let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
      let part = word.isEmpty ? rest.prefix(1) : word
      result += word.isEmpty ? String(first) : words[String(word)] ?? String(word)
      rest = rest[part.endIndex...]
    }
    return result
  }

  /// Which of `names` the store has, and whether each is a table. The query of a view may never end.
  ///
  /// - Parameter rows: Returns the rows of a statement.
  package func tables(
    _ names: [String], _ rows: (String) throws -> [[Any?]]
  ) throws -> [(name: String, isTable: Bool)] {
    let list = names.map { "'\($0)'" }.joined(separator: ", ")
    let found = try rows(known(list)).compactMap { row in
      (row[0] as? String).map { (name: $0.lowercased(), isTable: row[1] as? String == "table") }
    }
    return names.compactMap { name in
      found.first { $0.name == name.lowercased() }.map { (name, $0.isTable) }
    }
  }
}
