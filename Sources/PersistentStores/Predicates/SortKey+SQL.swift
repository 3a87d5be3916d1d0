import ManagedObjectModel

extension [SortKey] {
  /// The terms of an ORDER BY clause, without the keywords; empty without keys.
  package func sql(columns: ([String]) throws -> String) rethrows -> SQLFragment {
    let terms = try map { key in try columns(key.keyPath) + (key.ascending ? "" : " DESC") }
    return SQLFragment(terms.joined(separator: ", "))
  }
}
