/// One thing that differs between two sides that are compared.
package struct Difference: Sendable {
  package enum Kind: String, Sendable, CaseIterable, Encodable {
    /// An entry of the new side that the old one does not have.
    case added
    /// An entry of both sides with different values.
    case changed
    /// An entry of the old side that the new one does not have.
    case missing
    /// An entry whose key occurs more than once on a side; it is not compared.
    case duplicate
  }

  /// An entry of one side.
  struct Entry: Sendable {
    /// The number of the record in a file, or of the entry in the store.
    let number: Int64
    /// The line on which the record begins; 0 for an entry of a store.
    let line: Int64
    /// One for each compared column; nil for no value.
    let values: [String?]
  }

  let kind: Kind
  /// The entry on the old side; nil where it has none.
  let old: Entry?
  let new: Entry?
}

/// How many entries each side has, and what became of them.
package struct ComparisonCounts: Sendable, Hashable {
  /// Entries of the new side that could be read.
  var new = 0
  /// Entries of the old side that could be read.
  var old = 0
  var added = 0
  var changed = 0
  var missing = 0
  /// Entries of both sides whose keys occur more than once.
  var duplicatesNew = 0
  var duplicatesOld = 0
  /// Whether both sides have the same entries, each as often; then what is listed has no key of its own.
  var isSame = false

  var unchanged: Int { new - added - changed - duplicatesNew }
  var listed: Int { added + changed + missing + duplicatesNew + duplicatesOld }
  /// Those that make the sides differ.
  var differences: Int { isSame ? 0 : listed }
}
