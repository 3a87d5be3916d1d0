import Foundation

/// The costs of a row, for a terminal and as a page of the documentation.
struct ProfileReport {
  /// The first is what the others are compared with.
  let costs: [ImportCost]
  let rows: Int
  let runs: Int
  /// Seconds of the first.
  let systemCalls: [(name: String, count: Int)]?
  let machine: Machine

  /// Where the part of the page begins that people write.
  private static let handwritten = "## What waits for what"

  func text() throws -> String {
    ([stages.lines(), [""], sideLines, [""], callLines, [""], try functionLines])
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
    return """
      # What a row costs

      Where each nanosecond of an import goes, from the file to the store.

      ## Overview

      This page is written by `make profile`, down to the heading *\(Self.handwritten.dropFirst(3))*. Measured on
      \(Report.today):

      \(machine.lines.map { "- \($0)" }.joined(separator: "\n"))

      An import of \(Report.grouped(rows)) records through three contexts into an empty store, \(runs) times; the same
      of the gzip file; and the C limit of <doc:Benchmarks>, which has no graph. `perf` sampled every thread many
      times a second. A sample counts for the innermost function that belongs to a stage: copying memory, counting
      references and the kernel's work for a system call count for the caller. The figures are nanoseconds of
      processor time for each row; several threads spend them at the same time.

      \(stages.markdown)

      \(sideLines.joined(separator: "\n"))

      ### System calls

      \(callLines.joined(separator: "\n"))

      ### Where in the stages

      The functions in which most of each stage's time is spent. Functions of stripped libraries are `[unknown]`.

      \(try functionLines.joined(separator: "\n"))


      """
  }

  private var stages: TextTable {
    func row(_ name: String, meaning: String, _ cost: (Profile) -> Double) -> [String] {
      let values = costs.map { cost($0.profile) }
      let share = Report.text(values[0] / costs[0].profile.total * 100, digits: 1)
      return [name] + values.map { Report.text($0, digits: 1) } + [share, meaning]
    }
    let heads = ["stage"] + costs.map(\.name) + ["% of \(costs[0].name)", "what it is"]
    let rows = Stage.allCases.map { stage in row(stage.rawValue, meaning: stage.meaning) { $0.nanoseconds[stage] ?? 0 }
    }
    return TextTable(rows: [heads] + rows + [row("all", meaning: "") { $0.total }], endsInWords: true)
  }

  /// How busy each side is: what is busy all the time is what the other one waits for.
  private var sideLines: [String] {
    costs.map { cost in
      let parts = Stage.Side.allCases.map { side in
        let busy = cost.profile.nanoseconds(of: side)
        let share = busy / cost.elapsed * 100
        return "\(side.rawValue) \(Report.text(busy, digits: 0)) ns (\(Report.text(share, digits: 0)) %)"
      }
      return """
        - \(cost.name): a row every \(Report.text(cost.elapsed, digits: 0)) ns; of that time \
        \(parts.joined(separator: ", ")) of a processor
        """
    }
  }

  private var callLines: [String] {
    guard let systemCalls else { return ["strace was not there to count them."] }
    let frequent = systemCalls.filter { $0.count * 10_000 >= rows }
    let texts = frequent.map { "`\($0.name)` \(Report.text(Double($0.count) / Double(rows) * 1000, digits: 2))" }
    return ["Those made most often, for 1,000 rows: " + texts.joined(separator: ", ") + "."]
  }

  /// The dearest functions of each stage, and more of what no rule fits.
  private var functionLines: [String] {
    get throws {
      let profile = costs[0].profile
      return try Stage.allCases.filter { profile.nanoseconds[$0] != nil }.map { stage in
        let functions = profile.functions(of: stage, max: stage == .unknown ? 20 : 4)
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
