/// What ends a record.
package enum RecordEnd: Sendable, Hashable {
  /// LF, CRLF or CR, also mixed.
  case any
  /// These bytes only; other line ends are text.
  case only([UInt8])
}

/// How records and fields may be separated: one hypothesis of the sniffer.
package struct CandidateDialect: Sendable, Hashable {
  /// One or several bytes; empty for a table of one column.
  package var delimiter: [UInt8]
  package var quote: UInt8?
  /// Takes the special meaning from the byte after it; doubled quotes are read too.
  package var escape: UInt8?
  package var end = RecordEnd.any

  package init(delimiter: [UInt8], quote: UInt8? = UInt8(ascii: "\""), escape: UInt8? = nil) {
    self.delimiter = delimiter
    self.quote = quote
    self.escape = escape
  }
}

/// A field as a candidate dialect reads it.
package struct SplitCell: Sendable, Hashable {
  /// Without quotes and escapes, with surrounding blanks.
  package var bytes: [UInt8]
  package var isQuoted: Bool
  /// Whether text follows the closing quote, or the quote is never closed.
  package var isBroken: Bool
  /// Whether a space precedes it, or its quote.
  package var isSpaced: Bool

  package init(_ bytes: [UInt8], isQuoted: Bool = false, isBroken: Bool = false, isSpaced: Bool = false) {
    self.bytes = bytes
    self.isQuoted = isQuoted
    self.isBroken = isBroken
    self.isSpaced = isSpaced
  }

  package var isEmpty: Bool { bytes.allSatisfy(\.isBlank) }
  package var text: String { bytes.trimmed.text }
}

/// A record as a candidate dialect reads it.
package struct SplitRecord: Sendable, Hashable {
  package var cells: [SplitCell]
  /// Number of the line at which it begins, from 1 within its block.
  package var line: Int
  /// Position of its first byte in its block.
  package var start: Int

  package var filledCount: Int { cells.count { !$0.isEmpty } }
  package var isBlank: Bool { filledCount == 0 }
  package var isBroken: Bool { cells.contains(where: \.isBroken) }
  /// The text of a field; empty for one that the record lacks.
  package func text(_ column: Int) -> String { column < cells.count ? cells[column].text : "" }
}
