import Foundation

/// The costs of a row, for a terminal and as a page of the documentation.
struct ProfileReport {
  let plain: ImportCost
  let gzip: ImportCost
  let rows: Int
  let runs: Int
  /// Of the plain import.
  let systemCalls: [(name: String, count: Int)]?
  let machine: Machine

  /// Where the part of the page begins that people write.
  private static let handwritten = "## What waits for what"

  func text() throws -> String {
    ([stageRows.map { $0.joined(separator: "  ") }, [""], sideLines, [""], callLines, [""], try functionLines])
      .flatMap(\.self).joined(separator: "\n")
  }

  /// Writes the page anew, but for what people wrote at its end.
  func write(to file: URL) throws {
    let old = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    let kept =
      old.range(of: "\n" + Self.handwritten).map { String(old[$0.lowerBound...].dropFirst()) } ?? Self.handwritten
      + "\n"
    try (page() + kept).write(to: file, atomically: true, encoding: .utf8)
  }

  private func page() throws -> String {
    let table = stageRows.enumerated().map { index, row in
      let line = "| " + row.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " | ") + " |"
      return index == 0 ? line + "\n|" + String(repeating: " --- |", count: row.count) : line
    }
    return """
      # What a row costs

      Where each nanosecond of an import goes, from the file to the store.

      ## Overview

      This page is written by `make profile`, down to the heading *\(Self.handwritten.dropFirst(3))*. Measured on
      \(Report.today):

      \(machine.lines.map { "- \($0)" }.joined(separator: "\n"))

      An import of \(Report.grouped(rows)) records through three contexts into an empty store, \(runs) times; and the
      same of the gzip file. `perf` looked many times a second at what every thread was doing. A sample counts for the
      innermost function that belongs to a stage: copying memory or counting references is the affair of who asked for
      it, and so is what the kernel does for a system call. The figures are nanoseconds of processor time for each row;
      several threads spend them at the same time.

      \(table.joined(separator: "\n"))

      \(sideLines.joined(separator: "\n"))

      ### System calls

      \(callLines.joined(separator: "\n"))

      ### Where in the stages

      The functions in which most of each stage's time is spent. Names of libraries that were stripped of them are
      `[unknown]`.

      \(try functionLines.joined(separator: "\n"))


      """
  }

  private var stageRows: [[String]] {
    func number(_ value: Double, _ width: Int) -> String {
      let text = Report.text(value, digits: 1)
      return String(repeating: " ", count: max(0, width - text.count)) + text
    }
    func padded(_ text: String) -> String { text.padding(toLength: 12, withPad: " ", startingAt: 0) }
    func row(_ name: String, _ meaning: String, _ cost: (Profile) -> Double) -> [String] {
      let (one, other) = (cost(plain.profile), cost(gzip.profile))
      return [padded(name), number(one, 8), number(one / plain.profile.total * 100, 6), number(other, 8), meaning]
    }
    let stages = Stage.allCases.map { stage in
      row(stage.rawValue, stage.meaning) { $0.nanoseconds[stage] ?? 0 }
    }
    return [[padded("stage"), "ns a row", "     %", "    gzip", "what it is"]] + stages + [row("all", "") { $0.total }]
  }

  /// How busy each side is: what is busy all the time is what the other one waits for.
  private var sideLines: [String] {
    [("plain", plain), ("gzip", gzip)].map { name, cost in
      let parts = Stage.Side.allCases.map { side in
        let busy = cost.profile.nanoseconds(of: side)
        return
          "\(side.rawValue) \(Report.text(busy, digits: 0)) ns (\(Report.text(busy / cost.elapsed * 100, digits: 0)) %)"
      }
      return """
        - \(name): a row every \(Report.text(cost.elapsed, digits: 0)) ns; of that time \(parts.joined(separator: ", ")) \
        of a processor
        """
    }
  }

  private var callLines: [String] {
    guard let systemCalls else { return ["strace was not there to count them."] }
    let frequent = systemCalls.filter { $0.count * 10_000 >= rows }
    let texts = frequent.map { "`\($0.name)` \(Report.text(Double($0.count) / Double(rows) * 1000, digits: 2))" }
    return ["Those made most often, for 1,000 rows: " + texts.joined(separator: ", ") + "."]
  }

  /// The dearest functions of each stage of the plain import, and all that no rule fits.
  private var functionLines: [String] {
    get throws {
      try Stage.allCases.filter { plain.profile.nanoseconds[$0] != nil }.map { stage in
        let functions = plain.profile.functions(of: stage, max: stage == .unknown ? 20 : 4)
        let texts = try functions.map { "`\(try Self.readable($0.name))` \(Report.text($0.nanoseconds, digits: 1))" }
        return "- \(stage.rawValue): " + texts.joined(separator: ", ")
      }
    }
  }

  private static func readable(_ name: String) throws -> String {
    let demangle = "printf %s \"$1\" | swift demangle --compact --simplified"
    let text = name.contains("$s") ? try Tool.run(["sh", "-c", demangle, "sh", name]) : name
    return text.count > 80 ? text.prefix(79) + "…" : text
  }
}
