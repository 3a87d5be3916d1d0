/// Counts in which orders of day and month the texts of one column can be read, so that dates such as `3/4/14` are not
/// read in the wrong one.
///
/// Formats that differ only in the order of day and month, in the number of digits or in the century are one *shape*.
package struct DateSurvey: Sendable {
  /// The counts of one shape.
  struct Shape: Sendable {
    /// Declared formats, by their order.
    var declared: [DayMonthOrder: [DateFormat]] = [:]
    /// For both orders the patterns with years of two and of four digits.
    var patterns: [DayMonthOrder: [DatePattern]] = [:]
    /// Texts that can be read in this order only.
    var decided: [DayMonthOrder: Int] = [:]
    /// Texts that can be read in both.
    var undecided = 0
    /// For each order the first text that can be read only in it, with its line.
    var examples: [DayMonthOrder: (text: String, line: Int)] = [:]
    /// Whether years of two and of four digits have occurred.
    var hasShortYears = false
    var hasLongYears = false

    var total: Int { undecided + count(.monthFirst) + count(.dayFirst) }
    func count(_ order: DayMonthOrder) -> Int { decided[order] ?? 0 }
  }

  private(set) var shapes: [Shape] = []

  /// Creates a survey for the formats of a column; nil if none of them is ambiguous.
  init?(_ formats: [DateFormat]) {
    var shapes: [DatePattern: Shape] = [:]
    var order: [DatePattern] = []
    for format in formats {
      guard let pattern = format.pattern else { continue }
      let key = pattern.shape
      if shapes[key] == nil {
        shapes[key] = Shape()
        order.append(key)
      }
      shapes[key]?.declared[pattern.order, default: []].append(format)
      for digits in [2, 4] {
        let sibling = pattern.withYear(digits: digits)
        shapes[key]?.patterns[pattern.order, default: []].append(sibling)
        shapes[key]?.patterns[pattern.order.opposite, default: []].append(sibling.mirrored)
      }
    }
    // A year in front is followed by the month, unless a pipeline declares both.
    self.shapes = order.compactMap { shapes[$0] }.filter { shape in
      shape.declared.count > 1 || shape.declared.values.contains { $0.contains { $0.pattern?.isYearFirst == false } }
    }
    if self.shapes.isEmpty { return nil }
  }

  /// Counts a text without surrounding spaces.
  package mutating func add(_ text: Span<UInt8>, line: Int) {
    for index in shapes.indices {
      let shape = shapes[index]
      let readable = DayMonthOrder.allCases.filter { order in
        shape.patterns[order]?.contains { $0.fields(text)?.exists == true } == true
      }
      guard let first = readable.first else { continue }
      let isShort = DayMonthOrder.allCases.contains { order in
        shape.patterns[order]?.contains { $0.hasShortYear && $0.fields(text) != nil } == true
      }
      if isShort { shapes[index].hasShortYears = true } else { shapes[index].hasLongYears = true }
      guard readable.count == 1 else {
        shapes[index].undecided += 1
        continue
      }
      shapes[index].decided[first, default: 0] += 1
      if shape.examples[first] == nil { shapes[index].examples[first] = (RawText.shortened(text), line) }
    }
  }
}

extension DatePattern {
  fileprivate var hasShortYear: Bool {
    parts.contains { part in
      if case .year(2) = part { true } else { false }
    }
  }
}
