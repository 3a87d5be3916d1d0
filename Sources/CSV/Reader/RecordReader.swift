/// Reads the records of an input block by block, whatever the format of the input.
package protocol RecordReader: AnyObject {
  /// The position at which the next record starts.
  var position: ReaderPosition { get }
  /// Hashes every byte of the inflated input up to `position`; see `CSVReader.contentHash`.
  var contentHash: ContentHash? { get set }

  /// Reads the next records into `block`; see `CSVReader.next(into:recordsMax:)`.
  func next(into block: inout RecordBlock, recordsMax: Int) throws(CSVError) -> Bool
  /// Advances to the start of a record known from an earlier reading; see `CSVReader.skip(to:)`.
  func skip(to target: ReaderPosition) throws(CSVError)
}

extension CSVReader: RecordReader {}

/// An input before its first record is read: its first bytes may decide its format.
package struct UnreadInput {
  private let window: InputWindow

  package init(_ source: ByteSource) {
    window = InputWindow(source, readBytes: CSVReader.readBytes)
  }

  /// Whether the text is certainly JSON Lines: its first line that is not blank is a whole JSON object, in UTF-8. A
  /// longer line than `lineBytesMax` is not certain.
  package func isJSONLines(lineBytesMax: Int) -> Bool {
    window.refill(unreadMax: lineBytesMax)
    while true {
      let text = window.unread()
      let mark = text.starts(with: ASCII.byteOrderMark) ? ASCII.byteOrderMark.count : 0
      let start = text[mark...].firstIndex { !JSONText.isSpace($0) }
      if let start, text[start] != UInt8(ascii: "{") { return false }
      if let start {
        let end = text[start...].firstIndex(of: ASCII.lf) ?? (window.isFinal ? text.endIndex : nil)
        if let end { return Self.isObject(UnsafeBufferPointer(rebasing: text[start..<end])) }
      }
      if window.isFinal || window.unreadCount > lineBytesMax { return false }
      window.refill(unreadMax: lineBytesMax + 1)
    }
  }

  /// Whether the text begins as a JSON document does and a table does not: with an array, or with an object that has a
  /// member on a later line.
  package func isJSONDocument() -> Bool {
    window.refill(unreadMax: CSVReader.readBytes)
    let text = window.unread()
    let mark = text.starts(with: ASCII.byteOrderMark) ? ASCII.byteOrderMark.count : 0
    let signs = text[mark...].lazy.filter { !JSONText.isSpace($0) }.prefix(2).map { Character(Unicode.Scalar($0)) }
    return ["[{", "[[", "[\"", "{\"", "[]", "{}"].contains(String(signs))
  }

  private static func isObject(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
    firstInvalidUTF8(UnsafeRawBufferPointer(line)) == nil && JSONCursor.isObject(Array(line).span)
  }

  /// Whether the line after `skippedRows` others has a tab, in any encoding that has tabs as ASCII does or as 16 bits.
  package func hasTab(inLineAfter skippedRows: Int) -> Bool {
    window.refill(unreadMax: CSVReader.readBytes)
    let lines = window.unread().split(separator: ASCII.lf, maxSplits: skippedRows + 1, omittingEmptySubsequences: false)
    return lines.count > skippedRows && lines[skippedRows].contains(ASCII.tab)
  }

  /// Reads the input as CSV; throws as `CSVReader.init`.
  package func csvReader(dialect: CSVDialect, limits: CSVLimits) throws(CSVError) -> CSVReader {
    try CSVReader(window, dialect: dialect, limits: limits, usesFastScanner: true)
  }

  /// Reads the input as JSON Lines; throws `dialect-error` for limits out of range.
  package func jsonLinesReader(_ selection: MemberSelection, limits: CSVLimits) throws(CSVError) -> JSONLinesReader {
    try JSONLinesReader(window, selection, limits: limits)
  }
}
