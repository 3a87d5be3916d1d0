/// The order of day and month where both are numbers, as in `3/4/14`.
package enum DayMonthOrder: Sendable, Hashable, CaseIterable {
  case monthFirst, dayFirst

  package var opposite: DayMonthOrder { self == .monthFirst ? .dayFirst : .monthFirst }
}

extension DatePattern {
  var order: DayMonthOrder {
    for part in parts {
      if case .month = part { return .monthFirst }
      if case .day = part { return .dayFirst }
    }
    return .monthFirst
  }

  /// Whether the year comes before day and month. People who write so write the month next.
  var isYearFirst: Bool {
    for part in parts {
      switch part {
      case .year: return true
      case .month, .day: return false
      default: continue
      }
    }
    return false
  }

  /// The same pattern with day and month in each other's position.
  var mirrored: DatePattern {
    DatePattern(
      parts: parts.map { part in
        switch part {
        case .month(let digits): .day(digits: digits)
        case .day(let digits): .month(digits: digits)
        default: part
        }
      })
  }

  /// The same pattern with a year of so many digits.
  func withYear(digits: Int) -> DatePattern {
    DatePattern(
      parts: parts.map { part in
        if case .year = part { .year(digits: digits) } else { part }
      })
  }

  /// Equal for patterns that can read the same text differently, whatever the number of their digits.
  var shape: DatePattern {
    let pattern = order == .monthFirst ? self : mirrored
    return DatePattern(
      parts: pattern.parts.map { part in
        switch part {
        case .year: .year(digits: 4)
        case .month: .month(digits: 1)
        case .day: .day(digits: 1)
        case .hour: .hour(digits: 1)
        case .minute: .minute(digits: 1)
        case .second: .second(digits: 1)
        default: part
        }
      })
  }

  /// The pattern in letters.
  var text: String {
    var text = ""
    var quoted = ""
    func closeQuote() {
      if !quoted.isEmpty { text += "'\(quoted)'" }
      quoted = ""
    }
    for part in parts {
      if case .literal(let byte) = part, (byte | 0x20) &- 97 < 26 {
        quoted.unicodeScalars.append(Unicode.Scalar(byte))
        continue
      }
      if part == .literal(UInt8(ascii: "'")), !quoted.isEmpty {
        quoted += "''"
        continue
      }
      closeQuote()
      text += part.letters
    }
    closeQuote()
    return text
  }
}

extension DatePattern.Part {
  fileprivate var letters: String {
    switch self {
    case .literal(let byte): byte == UInt8(ascii: "'") ? "''" : String(Character(Unicode.Scalar(byte)))
    case .year(let digits): String(repeating: "y", count: digits)
    case .month(let digits): String(repeating: "M", count: digits)
    case .day(let digits): String(repeating: "d", count: digits)
    case .hour(let digits): String(repeating: "H", count: digits)
    case .minute(let digits): String(repeating: "m", count: digits)
    case .second(let digits): String(repeating: "s", count: digits)
    case .fraction(let digits): String(repeating: "S", count: digits)
    case .zone(.short): "X"
    case .zone(.basic): "XX"
    case .zone(.extended): "XXX"
    case .zone(.basicWithoutZ): "Z"
    }
  }
}
