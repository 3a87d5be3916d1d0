/// Skips the rest of a record (or a line) in pieces of any size and keeps none of it.
///
/// A quote that opens in the skipped part is in effect for at most `recordBytesMax` bytes; after that the next line
/// end ends the record.
struct RecordTailSkipper {
  enum Phase {
    /// Up to the next line end, regardless of quotes.
    case line
    case text, fieldStart, quoted, quoteInQuotes
    case afterCR, done
  }

  private(set) var counter = LineCounter()
  var isDone: Bool { phase == .done }
  private var phase: Phase
  private let rules: ScanRules
  private var quotedBytes = 0

  init(_ phase: Phase, _ rules: ScanRules) {
    self.phase = phase
    self.rules = rules
  }

  /// Returns how many of the bytes belong to the skipped part; fewer than all only when `isDone`.
  mutating func take(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var count = 0
    while count < bytes.count, step(bytes[count]) { count += 1 }
    counter.take(bytes[..<count])
    return count
  }

  /// False if the byte is beyond the end.
  private mutating func step(_ byte: UInt8) -> Bool {
    let isQuote = rules.hasQuotes && byte == rules.quote
    switch phase {
    case .done: return false
    case .afterCR:
      phase = .done
      return byte == ASCII.lf
    case .quoted:
      quotedBytes += 1
      if isQuote {
        phase = .quoteInQuotes
      } else if quotedBytes > rules.recordBytesMax {
        phase = .line
        return step(byte)
      }
      return true
    case .quoteInQuotes where isQuote:
      phase = .quoted
      return true
    case .fieldStart where isQuote:
      phase = .quoted
      quotedBytes = 0
      return true
    case .line, .text, .fieldStart, .quoteInQuotes:
      if byte == ASCII.lf {
        phase = .done
      } else if byte == ASCII.cr {
        phase = .afterCR
      } else if phase != .line {
        phase = byte == rules.delimiter ? .fieldStart : .text
      }
      return true
    }
  }
}
