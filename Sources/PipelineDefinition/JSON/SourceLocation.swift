/// A position in a text file: line and column, the column in characters, both from 1.
struct SourceLocation: Sendable, Hashable {
  var line: Int
  var column: Int
}
