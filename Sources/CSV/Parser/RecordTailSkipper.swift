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

  private(set) var counter: LineCounter
  var isDone: Bool { phase == .done }
  private var phase: Phase
  private let rules: ScanRules
  private var quotedBytes = 0
  /// The bytes outside quotes since the last delimiter.
  private var recent = RecentBytes()
  private var isEscaped = false

  init(_ phase: Phase, _ rules: ScanRules) {
    self.phase = phase
    self.rules = rules
    counter = LineCounter(joinsCRLF: rules.joinsCRLF)
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
    switch phase {
    case .done: return false
    case .afterCR:
      phase = .done
      return byte == ASCII.lf
    case .line:
      endLine(byte)
      return true
    case .text, .fieldStart, .quoted, .quoteInQuotes:
      if isEscaped {
        isEscaped = false
        recent.removeAll()
        return true
      }
      if byte == rules.escape {
        isEscaped = true
        if phase != .quoted { phase = .text }
        return true
      }
      return stepInRecord(byte)
    }
  }

  private mutating func stepInRecord(_ byte: UInt8) -> Bool {
    let isQuote = rules.hasQuotes && byte == rules.quote
    switch phase {
    case .quoted:
      quotedBytes += 1
      if isQuote {
        phase = rules.doublesQuotes ? .quoteInQuotes : .text
        recent.removeAll()
      } else if quotedBytes > rules.recordBytesMax {
        phase = .line
        recent.removeAll()
        return step(byte)
      }
    case .quoteInQuotes where isQuote:
      phase = .quoted
    case .fieldStart where isQuote:
      phase = .quoted
      quotedBytes = 0
    case .fieldStart where byte == ASCII.space && rules.skipsInitialSpace: break
    default:
      endLine(byte)
      if phase == .done || phase == .afterCR { break }
      phase = .text
      if rules.lineTerminator == nil { recent.append(byte) }
      if rules.delimiterToken.ends(recent) {
        phase = .fieldStart
        recent.removeAll()
      }
    }
    return true
  }

  /// Ends the skipped part if a line end is complete with this byte, or may be.
  private mutating func endLine(_ byte: UInt8) {
    if let lineTerminator = rules.lineTerminator {
      recent.append(byte)
      if lineTerminator.ends(recent) { phase = .done }
    } else if byte == ASCII.lf {
      phase = .done
    } else if byte == ASCII.cr {
      phase = .afterCR
    }
  }
}
