import Foundation

/// The figures, for a terminal and as a page of the documentation.
struct Report {
  let results: Results
  let machine: Machine

  private static let heads = ["seconds", "rows/s", "CPU s", "peak MB", "of the limit", "× ours"]

  var text: String {
    let tables = results.groups.map { table(of: $0, head: $0.title) }
    let texts = tables.map { $0.lines(alignedWith: tables).joined(separator: "\n") }
    return ([introduction] + texts + [verdicts.joined(separator: "\n")]).joined(separator: "\n\n")
  }

  func table(of group: Group, head: String) -> TextTable {
    TextTable(rows: [[head] + Self.heads] + results.lines(of: group).map(cells))
  }

  private var introduction: String {
    let runs = results.rounds == 1 ? "1 round" : "median of \(results.rounds) rounds"
    return (["\(Self.grouped(results.rows)) records, \(runs)"] + machine.lines).joined(separator: "\n")
  }

  var verdicts: [String] {
    results.verdicts.map { verdict in
      let bound =
        switch verdict.floor.bound {
        case .atLeast(let value): "at least \(value)"
        case .atMost(let value): "at most \(value)"
        }
      let value = verdict.value.map { Self.text($0.median, digits: 2) } ?? "not measured"
      let word = verdict.isKept ? "PASS" : verdict.value == nil ? "NONE" : verdict.passes ? "MISS" : "FAIL"
      let reason = verdict.isKept ? "" : verdict.floor.obstacle.map { "; \($0)" } ?? ""
      return "\(word) \(verdict.floor.claim): \(value), \(bound)\(reason)"
    }
  }

  private func cells(_ line: Results.Line) -> [String] {
    [
      line.subject.rawValue, Self.text(line.seconds, digits: line.seconds < 0.1 ? 4 : 3),
      line.rows.map { Self.grouped(Int(Double($0) / line.seconds)) } ?? "–", Self.text(line.cpuSeconds, digits: 2),
      Self.text(line.peakMegabytes, digits: 1), line.shareOfLimit.map { Self.text($0, digits: 2) } ?? "–",
      line.timesOurs.map { Self.text($0, digits: 2) } ?? "–",
    ]
  }

  static var today: String { Date.now.formatted(.iso8601.year().month().day()) }

  static func text(_ number: Double, digits: Int) -> String { String(format: "%.\(digits)f", number) }

  /// `1,234,567`.
  static func grouped(_ number: Int) -> String {
    var digits = Array(String(number))
    for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: place) }
    return String(digits)
  }
}
