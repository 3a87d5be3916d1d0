import Foundation
import ManagedObjectModel

/// How a store finds what a query asks for.
package struct QueryExplanation: Sendable {
  /// The SQL that is executed, with a question mark for each value; nil for a store without SQL, which evaluates the
  /// whole predicate in memory.
  package let statement: String?
  package let values: [StoredValue]
  /// The steps of the database's query planner, each indented under the one that it belongs to.
  package let plan: [String]
  /// Whether rows that the statement finds are still asked for a part of the predicate.
  package let filtersInMemory: Bool
  private let database: String

  /// That of a store without SQL.
  package static let inMemory = QueryExplanation(statement: nil, values: [], plan: [])

  package init(
    statement: String?, values: [StoredValue], plan: [String], filtersInMemory: Bool = false,
    database: String = "SQLite"
  ) {
    (self.statement, self.values, self.plan) = (statement, values, plan)
    (self.filtersInMemory, self.database) = (filtersInMemory, database)
  }

  /// The functions in the statement that are not SQLite's own: SQLite calls this library with the values of each row.
  package var ownFunctions: [String] {
    let words = (statement ?? "").split { !($0.isLetter || $0.isNumber || $0 == "_") }
    return Set(words.filter { $0.hasPrefix("OCD_") }.map(String.init)).sorted()
  }

  /// Lines for people: the statement, its values, the plan, and what SQLite does not evaluate itself.
  package var text: String {
    guard let statement else { return "The store has no SQL: the whole predicate is evaluated in memory.\n" }
    var lines = ["statement: \(statement)"]
    lines += values.enumerated().map { "value \($0 + 1): \($1.literal)" }
    lines += plan.map { "plan: \($0)" }
    let functions = ownFunctions
    lines.append(
      functions.isEmpty
        ? "evaluated by \(database): \(filtersInMemory ? "what the statement says" : "everything")"
        : "evaluated by this program for each row that SQLite asks about: \(functions.joined(separator: ", "))")
    lines.append(
      filtersInMemory
        ? "evaluated in memory after the statement: what the statement does not say of the predicate"
        : "evaluated in memory after the statement: nothing")
    return lines.joined(separator: "\n") + "\n"
  }
}

extension StoredValue {
  /// As SQL writes it.
  fileprivate var literal: String {
    switch self {
    case .null: "NULL"
    case .integer(let number): String(number)
    case .real(let number): String(number)
    case .decimal(let number): number.description
    case .text(let text): "'" + text.replacingOccurrences(of: "'", with: "''") + "'"
    case .blob(let data): "a blob of \(data.count) bytes"
    }
  }
}
