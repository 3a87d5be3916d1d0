import Foundation

/// Counts as bars next to each other, at most as many as a page can show; otherwise neighbours share a bar.
struct ChartBars {
  struct Bar {
    /// What the bar stands for, in full.
    let name: String
    /// Under the axis; nil for most bars of a long series.
    let label: String?
    let entries: Int
  }

  private(set) var bars: [Bar] = []
  /// What one bar stands for: month, year, value.
  private(set) var unit: String

  static let monthBarsMax = 240
  static let integerBarsMax = 24
  private static let labelsMax = 8

  /// Months without entries get a bar too.
  init(months counts: [EntryProfile.Chart.Count]) {
    let counts = counts.compactMap { count in MonthCounter.month(named: count.value).map { ($0, count.entries) } }
    unit = "month"
    guard let first = counts.map(\.0).min(), let last = counts.map(\.0).max() else { return }
    var years: Int64 = 0
    while last / Self.width(years) - first / Self.width(years) >= Self.monthBarsMax {
      years = years == 0 ? 1 : years * 10
    }
    let width = Self.width(years)
    if years > 0 { unit = years == 1 ? "year" : "\(years) years" }
    let start = first / width
    var sums = Array(repeating: 0, count: Int(last / width - start) + 1)
    for (month, entries) in counts { sums[Int(month / width - start)] += entries }
    bars = sums.enumerated().map { index, entries in
      let month = (start + Int64(index)) * width
      let name = years == 0 ? MonthCounter.name(month) : years == 1 ? "\(month / 12)" : "\(month / 12) ff."
      return Bar(name: name, label: nil, entries: entries)
    }
    labelMonths(from: start * width, width: width)
  }

  private static func width(_ years: Int64) -> Int64 { years == 0 ? 1 : years * 12 }

  /// Labels years at their January where there are several, otherwise months.
  private mutating func labelMonths(from start: Int64, width: Int64) {
    let months = bars.indices.map { start + Int64($0) * width }
    let januaries = months.indices.filter { months[$0] % 12 == 0 }
    let isByYear = width == 1 && januaries.count > 1
    let candidates = isByYear ? januaries : Array(months.indices)
    let step = (candidates.count + Self.labelsMax - 1) / Self.labelsMax
    for (number, index) in candidates.enumerated() where number % step == 0 {
      let name = isByYear || width > 1 ? "\(months[index] / 12)" : bars[index].name
      bars[index] = Bar(name: bars[index].name, label: name, entries: bars[index].entries)
    }
  }

  /// One bar per number, including numbers without entries; wide ranges in steps of 1, 2 or 5 times a power of ten.
  init(integers counts: [EntryProfile.Chart.Count]) {
    let counts = counts.compactMap { count in Int64(count.value).map { ($0, count.entries) } }
    unit = "value"
    guard let first = counts.map(\.0).min(), let last = counts.map(\.0).max() else { return }
    // The difference of two distant numbers can exceed a signed integer.
    let range = UInt64(bitPattern: last &- first)
    var step = ChartText.roundStep(atLeast: Double(range) / Double(Self.integerBarsMax - 1))
    if Double(range) < Double(Self.integerBarsMax) { step = 1 }
    let start = (Double(first) / step).rounded(.down)
    let end = (Double(last) / step).rounded(.down)
    var sums = Array(repeating: 0, count: Int(end - start) + 1)
    for (number, entries) in counts { sums[Int((Double(number) / step).rounded(.down) - start)] += entries }
    let labelStep = (sums.count + 11) / 12
    if step > 1 { unit = "\(ChartText.grouped(step)) values" }
    bars = sums.enumerated().map { index, entries in
      let low = ChartText.grouped((start + Double(index)) * step)
      let name = step > 1 ? "\(low) to \(ChartText.grouped((start + Double(index + 1)) * step - 1))" : low
      return Bar(name: name, label: index % labelStep == 0 ? low : nil, entries: entries)
    }
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
  fileprivate init(clamping value: Double) {
    self = Int(exactly: value.rounded()) ?? (value < 0 ? .min : .max)
  }
}
