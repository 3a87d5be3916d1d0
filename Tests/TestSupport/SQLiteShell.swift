import Foundation

extension Programs {
  /// The rows of a query as the `sqlite3` shell prints them, with the line break after the last row.
  package static func sqlite(_ store: String, _ query: String, in folder: TemporaryFolder? = nil) throws -> String {
    try output(of: ["sqlite3", "-batch", "-bail", store, query], in: folder)
  }
}

/// The rows of a query as the `sqlite3` shell prints them: the tests' independent reader and writer of stores.
@discardableResult
package func sqlite(_ path: String, _ sql: String) throws -> String {
  try Programs.sqlite(path, sql).trimmingCharacters(in: .newlines)
}

@discardableResult
package func sqlite(_ file: URL, _ sql: String) throws -> String { try sqlite(file.path, sql) }
