import Foundation

/// One sort criterion: an attribute and a direction.
package struct SortKey: Sendable, Hashable {
  package var keyPath: [String]
  package var ascending: Bool

  package init(keyPath: [String], ascending: Bool) {
    self.keyPath = keyPath
    self.ascending = ascending
  }

  package var name: String { keyPath.joined(separator: ".") }

  /// The order of two values of this key in its direction. The order is SQLite's: null comes first when ascending and
  /// last when descending.
  package func compare(_ left: StoredValue, _ right: StoredValue) -> ComparisonResult {
    let order = StoredValueOrder.compare(left, right)
    if order == 0 { return .orderedSame }
    return (order < 0) == ascending ? .orderedAscending : .orderedDescending
  }

  /// For `sorted(by:)`: strictly before, in this key's direction.
  package func areInIncreasingOrder(_ left: StoredValue, _ right: StoredValue) -> Bool {
    compare(left, right) == .orderedAscending
  }
}

extension [SortKey] {
  /// The order of two objects by the first key in which they differ.
  package func compare(
    left: (SortKey) throws -> StoredValue, right: (SortKey) throws -> StoredValue
  ) rethrows -> ComparisonResult {
    for key in self {
      let result = key.compare(try left(key), try right(key))
      if result != .orderedSame { return result }
    }
    return .orderedSame
  }
}
