/// What a key path of an expression about the rows of one result stands for, if it is not the path of an attribute.
package enum ResultKey: Sendable, Hashable {
  /// One of the values that are put together of all rows, by its index.
  case aggregate(Int)
  /// What the rows are grouped by, by its index.
  case group(Int)

  private static let (aggregates, groups) = ("@rows", "@group")

  /// Nil for the path of an attribute.
  package init?(_ path: [String]) {
    guard path.count == 2, let index = Int(path[1]), index >= 0 else { return nil }
    switch path[0] {
    case Self.aggregates: self = .aggregate(index)
    case Self.groups: self = .group(index)
    default: return nil
    }
  }

  package var path: [String] {
    switch self {
    case .aggregate(let index): [Self.aggregates, String(index)]
    case .group(let index): [Self.groups, String(index)]
    }
  }

  /// Whether a client's path looks like that of such a key.
  static func isReserved(_ path: [String]) -> Bool { path.first == aggregates || path.first == groups }
}
