/// Counts in which orders of day and month the texts of one column can be read, so that dates such as `3/4/14` are not
/// read in the wrong one.
///
/// Formats that differ only in the order of day and month, in the number of digits or in the century are one *shape*.
package struct DateSurvey: Sendable {
  /// The counts of one shape.
  struct Shape: Sendable {
    /// Declared formats, by their order.
    let declared: [DayMonthOrder: [DateFormat]]
    /// The readings of both orders, in the order of ``DayMonthOrder/allCases``, with years of two and of four digits.
    var counts: DateReadings
    /// For each order the first text that can be read only in it, with its line.
    var examples: [DayMonthOrder: (text: String, line: Int)] = [:]
    /// Whether years of two and of four digits have occurred.
    var hasShortYears = false
    var hasLongYears = false

    init(_ formats: [DateFormat]) {
      let patterns = formats.compactMap(\.pattern)
      declared = Dictionary(grouping: formats) { $0.pattern?.order ?? .monthFirst }
      counts = DateReadings(
        DayMonthOrder.allCases.map { order in
          let siblings = patterns.flatMap { pattern in
            [2, 4].map { (pattern.order == order ? pattern : pattern.mirrored).withYear(digits: $0) }
          }
          return DateReadings.Reading("", formats: siblings.map { DateFormat($0) })
        })
    }

    /// Whether its order can be mistaken: a year in front is followed by the month, unless a pipeline declares both.
    var isAmbiguous: Bool {
      declared.count > 1 || declared.values.contains { $0.contains { $0.pattern?.isYearFirst == false } }
    }

    /// Counts a text.
    mutating func add(_ text: Span<UInt8>, line: Int) {
      let readable = counts.add(text)
      guard let first = readable.first else { return }
      let isShort = counts.readings.contains { reading in
        reading.formats.contains { $0.pattern?.hasShortYear == true && $0.pattern?.fields(text) != nil }
      }
      if isShort { hasShortYears = true } else { hasLongYears = true }
      let order = DayMonthOrder.allCases[first]
      if readable.count == 1, examples[order] == nil { examples[order] = (RawText.shortened(text), line) }
    }
  }

  private(set) var shapes: [Shape] = []

  /// Creates a survey for the formats of a column; nil if none of them is ambiguous.
  init?(_ formats: [DateFormat]) {
    var groups: [DatePattern: [DateFormat]] = [:]
    var order: [DatePattern] = []
    for format in formats {
      guard let shape = format.pattern?.shape else { continue }
      if groups[shape] == nil { order.append(shape) }
      groups[shape, default: []].append(format)
    }
    shapes = order.compactMap { groups[$0] }.map { Shape($0) }.filter(\.isAmbiguous)
    if shapes.isEmpty { return nil }
  }

  /// Counts a text without surrounding spaces.
  package mutating func add(_ text: Span<UInt8>, line: Int) {
    for index in shapes.indices { shapes[index].add(text, line: line) }
  }
}

extension DatePattern {
  fileprivate var hasShortYear: Bool {
    parts.contains { part in
      if case .year(2) = part { true } else { false }
    }
  }
}
