/// Where the table of a file begins and ends.
package struct Layout: Sendable {
  package enum Footer: Sendable, Hashable {
    case none
    /// The beginning of the first line that does not belong to the table.
    case stopAt(String)
    /// The number of records at the end; blank ones do not count.
    case last(Int)
  }

  /// What happens to records of another number of fields.
  package enum Ragged: String, Sendable, Hashable {
    /// They are errors.
    case none
    /// Missing fields are empty.
    case pad
    /// Missing fields are empty, and empty surplus ones are dropped.
    case lenient
  }

  package var comment: Finding<String?>
  /// The number of lines before the header.
  package var skipRows: Finding<Int>
  package var headerRows: Finding<Int>
  /// One text per column; empty where the header has none, or where there is no header.
  package var labels: [String]
  package var footer: Finding<Footer>
  /// The number of blank records that were seen below the header.
  package var blankRecords: Int
  package var ragged = Finding(Ragged.none, confidence: 1, evidence: "")
  /// The number of fields.
  package var width: Int
  /// The lines of the header, from 1.
  package var headerLines: ClosedRange<Int>?
  /// How many of the seen records repeat the header.
  package var repeatedHeaders = 0
}

extension Layout {
  /// A table of named columns with nothing around it.
  init(labels: [String]) {
    self.init(
      comment: Finding(nil, confidence: 1, evidence: ""), skipRows: Finding(0, confidence: 1, evidence: ""),
      headerRows: Finding(1, confidence: 1, evidence: ""), labels: labels,
      footer: Finding(.none, confidence: 1, evidence: ""), blankRecords: 0, width: labels.count)
  }
}
