import Foundation

/// Counts as bars next to each other, at most as many as a page can show; otherwise neighbours share a bar.
struct ChartBars {
  struct Bar {
    /// What the bar stands for, in full.
    let name: String
    /// Under the axis; nil for most bars of a long series.
    var label: String?
    let entries: Int
    /// Whether the label is left out on a narrow screen, where it would run into others.
    var isMinor = false
  }

  private(set) var bars: [Bar] = []
  /// What one bar stands for: month, year, value.
  private(set) var unit: String
  /// How wide the bars together are on a screen that is not narrow, at least.
  let width: Double

  static let monthBarsMax = 240
  static let integerBarsMax = 24
  /// The least width of the bars in pixels: on a phone, of a chart that has the whole page, and of one of two.
  private static let (narrowWidth, wholeWidth, halfWidth) = (220.0, 560.0, 230.0)
  /// The width of a character of a label, and the gap between labels.
  private static let (characterWidth, labelGap) = (7.2, 8.0)

  /// Whether each bar has room for its number above it: on a wide screen, and on a phone.
  var hasRoomForNumbers: (wide: Bool, narrow: Bool) {
    let most = bars.map(\.entries).max() ?? 0
    let needed = Double(bars.count) * (Double(TextTable.grouped(most).count) * Self.characterWidth + Self.labelGap / 2)
    return (needed <= width, needed <= Self.narrowWidth)
  }

  /// Months without entries get a bar too.
  init(months counts: [EntryProfile.Chart.Count]) {
    let counts = counts.compactMap { count in MonthCounter.month(named: count.value).map { ($0, count.entries) } }
    (unit, self.width) = ("month", Self.wholeWidth)
    guard let first = counts.map(\.0).min(), let last = counts.map(\.0).max() else { return }
    var years: Int64 = 0
    while last / Self.width(years) - first / Self.width(years) >= Self.monthBarsMax {
      years = years == 0 ? 1 : years * 10
    }
    let monthsPerBar = Self.width(years)
    if years > 0 { unit = years == 1 ? "year" : "\(years) years" }
    let start = first / monthsPerBar
    var sums = Array(repeating: 0, count: Int(last / monthsPerBar - start) + 1)
    for (month, entries) in counts { sums[Int(month / monthsPerBar - start)] += entries }
    bars = sums.enumerated().map { index, entries in
      let month = (start + Int64(index)) * monthsPerBar
      let name = years == 0 ? MonthCounter.name(month) : years == 1 ? "\(month / 12)" : "\(month / 12) ff."
      return Bar(name: name, entries: entries)
    }
    labelMonths(from: start * monthsPerBar, monthsPerBar: monthsPerBar)
  }

  private static func width(_ years: Int64) -> Int64 { years == 0 ? 1 : years * 12 }

  /// Labels years at their January where there are several, otherwise months.
  private mutating func labelMonths(from start: Int64, monthsPerBar: Int64) {
    let months = bars.indices.map { start + Int64($0) * monthsPerBar }
    let januaries = months.indices.filter { months[$0] % 12 == 0 }
    let isByYear = monthsPerBar == 1 && januaries.count > 1
    let candidates = isByYear ? januaries : Array(months.indices)
    let names = candidates.map { isByYear || monthsPerBar > 1 ? "\(months[$0] / 12)" : bars[$0].name }
    label(candidates, names)
  }

  /// Labels as many of the bars with these indices as there is room for, at equal distances; those for which there is no
  /// room on a phone are minor.
  private mutating func label(_ candidates: [Int], _ names: [String]) {
    let least = Self.step(candidates, names, bars: bars.count, width: width)
    // A multiple, so that what a phone shows is at equal distances too.
    let narrow = Self.step(candidates, names, bars: bars.count, width: Self.narrowWidth)
    let multiple = (narrow + least - 1) / least * least
    for (number, index) in candidates.enumerated() where number % least == 0 {
      bars[index].label = names[number]
      bars[index].isMinor = number % multiple != 0
    }
  }

  /// How many candidates share one label so that no label runs into the next.
  private static func step(_ candidates: [Int], _ names: [String], bars: Int, width: Double) -> Int {
    let widest = Double(names.map(\.count).max() ?? 0) * characterWidth + labelGap
    for step in 1..<max(candidates.count, 2) {
      let shown = stride(from: 0, to: candidates.count, by: step).map { candidates[$0] }
      let gaps = zip(shown.dropFirst(), shown).map { Double($0 - $1) }
      if (gaps.min() ?? .infinity) * width / Double(bars) >= widest { return step }
    }
    return max(candidates.count, 1)
  }

  /// One bar per number, including numbers without entries; wide ranges in steps of 1, 2 or 5 times a power of ten.
  init(integers counts: [EntryProfile.Chart.Count]) {
    let counts = counts.compactMap { count in Int64(count.value).map { ($0, count.entries) } }
    (unit, width) = ("value", Self.halfWidth)
    guard let first = counts.map(\.0).min(), let last = counts.map(\.0).max() else { return }
    // The difference of two distant numbers can exceed a signed integer.
    let range = UInt64(bitPattern: last &- first)
    var step = ChartText.roundStep(atLeast: Double(range) / Double(Self.integerBarsMax - 1))
    if Double(range) < Double(Self.integerBarsMax) { step = 1 }
    let start = (Double(first) / step).rounded(.down)
    let end = (Double(last) / step).rounded(.down)
    var sums = Array(repeating: 0, count: Int(end - start) + 1)
    for (number, entries) in counts { sums[Int((Double(number) / step).rounded(.down) - start)] += entries }
    if step > 1 { unit = "\(ChartText.grouped(step)) values" }
    bars = sums.enumerated().map { index, entries in
      let low = ChartText.grouped((start + Double(index)) * step)
      let name = step > 1 ? "\(low) to \(ChartText.grouped((start + Double(index + 1)) * step - 1))" : low
      return Bar(name: name, entries: entries)
    }
    let names = bars.indices.map { ChartText.grouped((start + Double($0)) * step) }
    label(Array(bars.indices), names)
  }
}

/// Formats numbers for charts.
enum ChartText {
  /// A part of a whole as a length, `12.345%`.
  static func percent(_ part: Int, of whole: Int) -> String { percent(Double(part) / Double(max(whole, 1))) }

  static func percent(_ share: Double) -> String { String(format: "%.3f%%", share * 100) }

  /// The smallest of 1, 2 and 5 times a power of ten that is at least `value` and at least 1.
  static func roundStep(atLeast value: Double) -> Double {
    var power = 1.0
    while true {
      for step in [1.0, 2, 5] where step * power >= value { return step * power }
      power *= 10
    }
  }

  static func grouped(_ value: Double) -> String { TextTable.grouped(Int(clamping: value)) }
}

extension Int {
  /// The nearest integer; the least or the greatest where it is beyond both.
  init(clamping value: Double) {
    self = Int(exactly: value.rounded()) ?? (value < 0 ? .min : .max)
  }
}
