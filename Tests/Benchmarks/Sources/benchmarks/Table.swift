import Foundation

/// The figures of a benchmark, as text and as a page of the documentation.
struct Table {
  struct Line {
    let name: String
    let seconds: Double
    let cpuSeconds: Double
    let peakMegabytes: Double
    let limit: String?

    init(_ name: String, _ runs: [Measurement], limit: String?) {
      self.name = name
      self.limit = limit
      seconds = Self.median(runs.map(\.seconds))
      cpuSeconds = Self.median(runs.map(\.cpuSeconds))
      peakMegabytes = runs.map(\.peakMegabytes).max() ?? 0
    }

    private static func median(_ values: [Double]) -> Double {
      let sorted = values.sorted()
      return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
    }
  }

  let lines: [Line]
  let rows: Int
  let rounds: Int

  private static let heads = ["what", "seconds", "rows/s", "of the limit", "CPU s", "peak MB"]

  private func ratio(_ line: Line) -> Double? {
    guard let limit = lines.first(where: { $0.name == line.limit }) else { return nil }
    return limit.seconds / line.seconds
  }

  private var cells: [[String]] {
    lines.map { line in
      [
        line.name, Self.text(line.seconds, 3), Self.grouped(Int(Double(rows) / line.seconds)),
        ratio(line).map { Self.text($0, 2) } ?? "–", Self.text(line.cpuSeconds, 2), Self.text(line.peakMegabytes, 1),
      ]
    }
  }

  var text: String {
    let all = [Self.heads] + cells
    let widths = Self.heads.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    let body = all.map { row in
      row.enumerated().map { column, cell in
        let space = String(repeating: " ", count: widths[column] - cell.count)
        return column == 0 ? cell + space : space + cell
      }.joined(separator: "  ")
    }
    return ([title, ""] + body + notes).joined(separator: "\n")
  }

  var markdown: String {
    let body = ([Self.heads, Self.heads.map { _ in "---" }] + cells).map { "| " + $0.joined(separator: " | ") + " |" }
    return """
      # Benchmark figures

      Written by `make bench`; whole processes, start-up included, medians of interleaved runs.

      ## Overview

      \(title)

      \(body.joined(separator: "\n"))

      \(notes.joined(separator: "\n"))

      The limit is a C program that parses on a second thread, hands rows to SQLite through a virtual table and
      checkpoints on a third: no positions, no rejects, no contexts. Machines of this kind are shared and noisy: what
      counts are the ratios of one run.

      """
  }

  private var title: String {
    "\(Self.grouped(rows)) rows, median of \(rounds) rounds, \(Machine.description)"
  }

  private var notes: [String] {
    let memory = "No peak can show less than this measuring program itself had in memory when it started the process."
    return lines.contains { $0.limit != nil }
      ? [memory] : ["The C programs that mark the limit are not here; no ratios.", memory]
  }

  /// The floors that were promised and are not kept.
  var failures: [String] {
    func line(_ name: String) -> Line? { lines.first { $0.name == name } }
    guard let three = line("import, three contexts"), let one = line("import, one context") else { return [] }
    var failures: [String] = []
    if let ratio = ratio(three), ratio < 0.5 {
      failures.append("the import has \(Self.text(ratio, 2)) of the limit, not 0.5")
    }
    if three.seconds > 1.2 * one.seconds {
      failures.append("three contexts take \(Self.text(three.seconds / one.seconds, 2)) × one, more than 1.2")
    }
    if three.peakMegabytes > 96 {
      failures.append("the import's peak is \(Self.text(three.peakMegabytes, 1)) MB, over 96")
    }
    return failures
  }

  private static func text(_ number: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", number) }

  private static func grouped(_ number: Int) -> String {
    var digits = Array(String(number))
    var place = digits.count - 3
    while place > 0 {
      digits.insert(",", at: place)
      place -= 3
    }
    return String(digits)
  }
}

/// The machine in one line.
private enum Machine {
  static var description: String {
    let cpu = field("/proc/cpuinfo", "model name") ?? "unknown processor"
    let memory = field("/proc/meminfo", "MemTotal")?.split(separator: " ").first.flatMap { Int($0) } ?? 0
    let kernel = (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)) ?? ""
    return "\(ProcessInfo.processInfo.activeProcessorCount) × \(cpu), \(memory >> 20) GiB, Linux "
      + kernel.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private static func field(_ path: String, _ name: String) -> String? {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
    return line?.split(separator: ":", maxSplits: 1).last?.trimmingCharacters(in: .whitespaces)
  }
}
