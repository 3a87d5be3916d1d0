/// How files would be read: what a preview shows of each, and what the reading found as a whole.
package struct Preview: Sendable {
  /// The pipeline's name.
  package let pipeline: String
  package let files: [FilePreview]
  /// Issues of headers and of whole columns.
  package let headerIssues: [RecordIssue]
  /// What no number says, such as the date formats that were chosen.
  package let note: String?
  /// Why reading did not reach the end.
  package let failure: RunSummary.Failure?
  /// That of the dry run: 65 if records would be rejected.
  package let exitCode: ExitCode
}

/// How one file would be read.
package struct FilePreview: Sendable {
  /// A record as it was parsed, or as it is in the file.
  struct Record: Sendable, Hashable {
    /// Its number, from 1 for the first after the header.
    let number: Int
    let line: Int
    /// One for each column; nil for no value. Empty for a record that would be rejected.
    var values: [String?] = []
    /// The record's text in the file, if it would be rejected.
    var text: String?
    /// Why it is shown.
    var reasons: [String] = []
    /// What is wrong with it.
    var issues: [RecordIssue] = []
  }

  /// A value and how often it occurs.
  struct Count: Sendable, Hashable, Encodable {
    let value: String
    let count: Int
  }

  /// What is in one column of the records that can be imported.
  struct Column: Sendable {
    let name: String
    let attribute: String
    let type: ColumnType
    /// Records with a value.
    let filled: Int
    /// The number of different values; at least so many if `distinctIsExact` is false.
    let distinct: Int
    let distinctIsExact: Bool
    /// The most frequent values.
    let frequent: [Count]
    /// The smallest and the greatest number or date.
    let range: (least: String, greatest: String)?
    /// Lengths in characters, or in bytes for binary data.
    let lengths: ClosedRange<Int>?
    /// Fields of the column that were refused.
    let refused: Int
    /// The first of them.
    let refusals: [RecordIssue]
  }

  let input: String
  let columns: [Column]
  /// Fields that no column reads.
  let ignoredFields: Int
  let read: Int
  let accepted: Int
  let rejected: Int
  /// Records with warnings that can be imported.
  let warned: Int
  let first: [Record]
  /// Without those that are in `first`.
  let last: [Record]
  let odd: [Record]
  /// Different values counted for each column.
  let distinctMax: Int
}

/// The bounds of a preview, whatever the files contain.
enum PreviewBounds {
  /// Different values counted for a column, and for all columns of a file together.
  static let distinctMax = 10_000
  static let distinctMaxOfFile = 200_000
  /// Values of a column that are listed as its most frequent ones.
  static let frequentMax = 5
  /// A value can be rare in a column of at most so many different values.
  static let rareDistinctMax = 20
  /// A value can be rare if so many times as many records have a value as there are different ones.
  static let rareRecordsPerValue = 10
  /// Columns whose values can make a record odd; the extremes of the others are shown without their records.
  static let oddColumnsMax = 100
  /// Examples of refused fields of a column.
  static let refusalsMax = 3
  /// Records with warnings or rejected ones that are shown, each.
  static let issueRecordsMax = 10
  /// Characters of a value that are kept.
  static let charactersMax = 1000
  /// Longer texts are counted by a digest.
  static let textBytesMax = 200

  static func distinctMax(columns: Int) -> Int {
    max(100, min(distinctMax, distinctMaxOfFile / max(1, columns)))
  }
}
