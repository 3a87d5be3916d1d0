/// A date format with letters, compiled once: a subset of the date field symbols of Unicode TR35.
struct DatePattern: Sendable, Hashable {
  enum Part: Sendable, Hashable {
    case literal(UInt8)
    /// `digits` as for the other numbers; 2 is a year of the window 1950–2049.
    case year(digits: Int)
    /// `digits` is 1 (one or two digits are read, no zero is written) or 2 (exactly two).
    case month(digits: Int)
    case day(digits: Int)
    case hour(digits: Int)
    case minute(digits: Int)
    case second(digits: Int)
    case fraction(digits: Int)
    case zone(ZoneStyle)

    /// Whether the part consists of digits only.
    fileprivate var isNumber: Bool {
      switch self {
      case .literal, .zone: false
      default: true
      }
    }

    fileprivate var isVariable: Bool {
      switch self {
      case .month(1), .day(1), .hour(1), .minute(1), .second(1), .year(1): true
      default: false
      }
    }
  }

  enum ZoneStyle: Sendable, Hashable {
    /// `X`: `Z`, `+09`, `+0930`. `XX`: `+0930`. `XXX` and `ZZZZZ`: `+09:30`. `Z`: `+0930`, and `+0000` for UTC.
    case short, basic, extended, basicWithoutZ
  }

  let parts: [Part]

  /// First year of the window for two-digit years, the default of `DateFormatter` (`twoDigitStartDate` is
  /// 1950-01-01).
  static let windowStart = 1950

  init(parts: [Part]) { self.parts = parts }

  /// Compiles a pattern. `names` are the names of formats, for the message about an unsupported letter.
  init(_ text: String, names: [String] = DateFormat.names) throws(PipelineError) {
    var parts: [Part] = []
    let bytes = Array(text.utf8)
    var at = 0
    while at < bytes.count {
      let byte = bytes[at]
      if byte == UInt8(ascii: "'") {
        parts += try Self.quoted(bytes, &at, in: text)
        continue
      }
      guard (byte | 0x20) &- 97 < 26 else {
        parts.append(.literal(byte))
        at += 1
        continue
      }
      var end = at
      while end < bytes.count, bytes[end] == byte { end += 1 }
      parts.append(try Self.part(byte, count: end - at, in: text, names))
      at = end
    }
    self.parts = parts
    try check(text)
  }

  private static func quoted(
    _ bytes: [UInt8], _ at: inout Int, in text: String
  ) throws(PipelineError) -> [Part] {
    let quote = UInt8(ascii: "'")
    at += 1
    if at < bytes.count, bytes[at] == quote {
      at += 1
      return [.literal(quote)]
    }
    var parts: [Part] = []
    while at < bytes.count {
      if bytes[at] != quote {
        parts.append(.literal(bytes[at]))
        at += 1
      } else if at + 1 < bytes.count, bytes[at + 1] == quote {
        parts.append(.literal(quote))
        at += 2
      } else {
        at += 1
        return parts
      }
    }
    throw PipelineError("the date format \"\(text)\" has an unmatched ': close it, or write '' for one")
  }

  private static func part(
    _ letter: UInt8, count: Int, in text: String, _ names: [String]
  ) throws(PipelineError) -> Part {
    switch (letter, count) {
    case (UInt8(ascii: "y"), 1), (UInt8(ascii: "y"), 2), (UInt8(ascii: "y"), 4): return .year(digits: count)
    case (UInt8(ascii: "M"), 1...2): return .month(digits: count)
    case (UInt8(ascii: "d"), 1...2): return .day(digits: count)
    case (UInt8(ascii: "H"), 1...2): return .hour(digits: count)
    case (UInt8(ascii: "m"), 1...2): return .minute(digits: count)
    case (UInt8(ascii: "s"), 1...2): return .second(digits: count)
    case (UInt8(ascii: "S"), 1...18): return .fraction(digits: count)
    case (UInt8(ascii: "X"), 1): return .zone(.short)
    case (UInt8(ascii: "X"), 2): return .zone(.basic)
    case (UInt8(ascii: "X"), 3), (UInt8(ascii: "Z"), 5): return .zone(.extended)
    case (UInt8(ascii: "Z"), 1...3): return .zone(.basicWithoutZ)
    default:
      let letters = String(repeating: Character(Unicode.Scalar(letter)), count: count)
      throw PipelineError(
        """
        the date format "\(text)" has '\(letters)', which is not supported; use y yy yyyy, M MM, d dd, H HH, m mm, \
        s ss, S…, X XX XXX, Z, ZZZZZ, put other letters in '…', or name a format: \
        \(names.joined(separator: ", "))
        """)
    }
  }

  /// Refuses patterns that are ambiguous or incomplete.
  private func check(_ text: String) throws(PipelineError) {
    for (left, right) in zip(parts, parts.dropFirst()) where left.isVariable && right.isNumber {
      throw PipelineError(
        """
        the date format "\(text)" has two numbers side by side of which the first has no fixed length; \
        double its letter or put a mark between them
        """)
    }
    let names = parts.compactMap(\.name)
    for name in ["year", "month", "day"] where !names.contains(name) {
      throw PipelineError("the date format \"\(text)\" names no \(name); a date needs year (y), month (M) and day (d)")
    }
    for (index, name) in names.enumerated() where names[..<index].contains(name) {
      throw PipelineError("the date format \"\(text)\" names the \(name) twice; remove one")
    }
    for (name, needed) in [("fraction", "second"), ("second", "minute"), ("minute", "hour"), ("zone", "hour")]
    where names.contains(name) && !names.contains(needed) {
      throw PipelineError("the date format \"\(text)\" has a \(name) but no \(needed); add it")
    }
  }
}

extension DatePattern.Part {
  fileprivate var name: String? {
    switch self {
    case .literal: nil
    case .year: "year"
    case .month: "month"
    case .day: "day"
    case .hour: "hour"
    case .minute: "minute"
    case .second: "second"
    case .fraction: "fraction"
    case .zone: "zone"
    }
  }
}
