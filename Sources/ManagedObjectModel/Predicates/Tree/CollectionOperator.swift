/// The collection operators of key paths (Key-Value Coding Programming Guide, "Using Collection Operators"), as they are
/// spelled in them.
package enum CollectionOperator: String, Sendable, Hashable, CaseIterable {
  case count = "@count"
  case sum = "@sum"
  case minimum = "@min"
  case maximum = "@max"
  case average = "@avg"
}
