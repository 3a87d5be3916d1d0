/// How a save finds out in its transaction whether another program has changed objects that it relies on.
package struct ChangeMark: Sendable {
  /// Statements that keep other programs from changing the objects until the transaction ends.
  package let locks: [String]
  /// A query for a number that stays the same as long as no other program changes them.
  package let query: String

  package init(locks: [String], query: String) { (self.locks, self.query) = (locks, query) }
}
