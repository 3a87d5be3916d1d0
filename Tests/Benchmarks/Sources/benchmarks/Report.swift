import Foundation

/// The figures, for a terminal and as a page of the documentation.
struct Report {
  let results: Results
  let machine: Machine

  private static let heads = ["seconds", "rows/s", "CPU s", "peak MB", "of the limit", "× ours"]

  var text: String {
    let rows = results.groups.map { group in (group, results.lines(of: group).map(cells)) }
    let all = rows.flatMap { [[$0.title] + Self.heads] + $1 }
    let widths = (0...Self.heads.count).map { column in all.map { $0[column].count }.max() ?? 0 }
    func line(_ cells: [String]) -> String {
      zip(cells, widths).enumerated().map { column, cell in
        let space = String(repeating: " ", count: cell.1 - cell.0.count)
        return column == 0 ? cell.0 + space : space + cell.0
      }.joined(separator: "  ")
    }
    let tables = rows.map { group, lines in
      ([line([group.title] + Self.heads)] + lines.map(line)).joined(separator: "\n")
    }
    return ([introduction] + tables + [verdicts.joined(separator: "\n")]).joined(separator: "\n\n")
  }

  var markdown: String {
    let tables = results.groups.map { group in
      let lines =
        [["what"] + Self.heads, Self.heads.map { _ in "---" } + ["---"]] + results.lines(of: group).map(cells)
      return "### \(group.title)\n\n" + lines.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
    }
    return """
      # Benchmark figures

      How fast imports, dry runs and exports are, beside what the machine can do and what other programs do.

      ## Overview

      This page is written by `make bench-docs`. Measured on \(Self.today):

      \(machine.lines.map { "- \($0)" }.joined(separator: "\n"))

      The log has \(Self.grouped(results.rows)) records. The programs took turns, and there were \(results.rounds)
      rounds (one for sqlite-utils, which takes so much longer). Whole processes are timed, start-up included; seconds
      and ratios are medians over the rounds, peak memory is the greatest. *Of the limit* is the speed as a share of
      the first line's, *× ours* the time as a multiple of ours; both are taken round by round.

      The limit is a C program in `Tests/Benchmarks` that parses on a second thread, hands rows to SQLite through a
      virtual table and checkpoints on a third. It checks dates, ratings and UTF-8 as we do, but has no contexts,
      positions, report or rejects, and its exports do not wait for the disk. It and the project's program use the
      SQLite named above.

      After each run an independent program looked at what was written. Stores hold the same as the limit's, whose
      export is the input again, byte for byte; so are exports by key, also unpacked. An export by date has the
      input's size and is in order. Of other programs' tables and texts the rows were counted.

      \(tables.joined(separator: "\n\n"))

      ### Floors

      \(verdicts.map { "- \($0)" }.joined(separator: "\n"))

      """
  }

  private var introduction: String {
    let runs = results.rounds == 1 ? "1 round" : "median of \(results.rounds) rounds"
    return (["\(Self.grouped(results.rows)) records, \(runs)"] + machine.lines).joined(separator: "\n")
  }

  private var verdicts: [String] {
    results.verdicts.map { verdict in
      let bound =
        switch verdict.bound {
        case .atLeast(let value): "at least \(value)"
        case .atMost(let value): "at most \(value)"
        }
      let value = verdict.value.map { Self.text($0, digits: 2) } ?? "not measured"
      let word = verdict.isKept ? "PASS" : verdict.value == nil ? "NONE" : "FAIL"
      return "\(word) \(verdict.claim): \(value), \(bound)"
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

  private static var today: String { Date.now.formatted(.iso8601.year().month().day()) }

  private static func text(_ number: Double, digits: Int) -> String { String(format: "%.\(digits)f", number) }

  /// `1,234,567`.
  private static func grouped(_ number: Int) -> String {
    var digits = Array(String(number))
    for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: place) }
    return String(digits)
  }
}
