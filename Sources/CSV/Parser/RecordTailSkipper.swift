/// Passes over the rest of a record (or a line) in whatever pieces it comes, holding none of it.
///
/// A quote that opens in the passed part is believed for at most `recordBytesMax` bytes; after that the next line
/// end is the end.
struct RecordTailSkipper {
  enum Phase {
    /// To the next line end, quotes or not.
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

  /// Answers how many of the bytes belong to what is skipped; fewer than all only when `isDone`.
  mutating func take(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var count = 0
    while count < bytes.count, step(bytes[count]) { count += 1 }
    counter.take(bytes[..<count])
    return count
  }

  /// False if the byte lies beyond the end.
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
