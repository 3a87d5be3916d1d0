/// The collection operators of key paths (Key-Value Coding Programming Guide, "Using Collection Operators"), as they are
/// spelled in them.
package enum CollectionOperator: String, Sendable, Hashable, CaseIterable {
  case count = "@count"
  case sum = "@sum"
  case minimum = "@min"
  case maximum = "@max"
  case average = "@avg"
  /// The values at the end of the path after it, those that are not nil.
  case union = "@unionOfObjects"
  /// The same, with equal values once.
  case distinctUnion = "@distinctUnionOfObjects"
}

extension CollectionOperator {
  /// Whether it gives values, not one value of all of them.
  var isUnion: Bool { self == .union || self == .distinctUnion }
}
