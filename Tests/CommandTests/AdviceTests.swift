import Foundation
import TestSupport
import Testing

@Suite("Advice is right: doing what a message says leads on")
struct AdviceTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func entries() throws -> String {
    try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY", in: folder)
  }

  private func load(_ arguments: String...) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, ["import"] + arguments + ["--store", "s"], in: folder)
  }

  private func next(_ output: ProgramOutput) throws -> String {
    let parts = output.text.components(separatedBy: "\nNext: ")
    try #require(parts.count == 2, "\(output.text)")
    return parts[1].trimmingCharacters(in: .newlines)
  }

  private func writeDirty() throws {
    try folder.write(Logs.header + "2014-07-14,3ft,,,A,4\nsoon,3ft,,,B,4\n2014-07-16,3ft,,,C,9\n", to: "log.csv")
  }

  private func correctLog() throws {
    let text = try folder.text("log.csv").replacingOccurrences(of: "soon", with: "2014-07-15")
    try folder.write(text.replacingOccurrences(of: "C,9", with: "C,5"), to: "log.csv")
  }

  @Test func `A stopped run: correct the records, or raise the limit`() throws {
    try writeDirty()
    let stopped = try load("log.csv", "--max-errors", "1")
    #expect(
      try next(stopped)
        == "correct the listed records and run it again, or raise the errorBudget of the pipeline, or --max-errors "
        + "and --max-error-percent."
    )
    #expect(try load("log.csv", "--max-errors", "2").status == 65)
    #expect(try entries() == "1\n")
    try FileManager.default.removeItem(at: folder.file("s"))
    #expect(try load("log.csv", "--max-errors", "1").status == 65)
    try correctLog()
    #expect(try load("log.csv", "--max-errors", "1").status == 0)
    #expect(try entries() == "3\n")
  }

  @Test func `A run that ends at the first error: let it continue`() throws {
    try writeDirty()
    let stopped = try load("log.csv", "--stop-on-error")
    #expect(try next(stopped).contains("\"errorPolicy\": \"skip\" in the pipeline and without --stop-on-error"))
    #expect(stopped.text.contains("; nothing of log.csv was imported\n"), "\(stopped.text)")
    try folder.write(#"{"name": "p", "extends": "surf-log", "errorPolicy": "skip"}"#, to: "p.json")
    #expect(try load("log.csv", "--pipeline", "p.json").text.contains("  inserted    1\n"))
  }

  @Test func `Rejects: the command that a report, the next run and the history name`() throws {
    try writeDirty()
    let first = try next(try load("log.csv"))
    let again = try load("log.csv").text
    let history = try Tool.run("history", "s", in: folder).text
    let commands = [
      first.components(separatedBy: "then run: ")[1],
      try #require(again.split(separator: "\n").first { $0.contains("import them with: ") })
        .components(separatedBy: "import them with: ")[1],
      history.components(separatedBy: "then run: ")[1].trimmingCharacters(in: .newlines),
    ]
    #expect(Set(commands).count == 1, "\(commands)")
    let rejects = folder.file("log.csv.rejects.csv")
    let text = try String(contentsOf: rejects, encoding: .utf8).replacingOccurrences(of: "soon", with: "2014-07-15")
    try folder.write(text.replacingOccurrences(of: "C,9", with: "C,5"), to: "log.csv.rejects.csv")
    let output = try Tool.shell(
      commands[0].replacingOccurrences(
        of: "surfjournal replay",
        with: "\"$surfjournal\" "
          + "replay"), in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try entries() == "3\n")
  }

  @Test func `A related object is missing: import it, then replay the rejects as they are`() throws {
    try LinkedSample.prepare(folder)
    try folder.write(LinkedSample.pipeline(ifMissing: "reject"), to: "p.json")
    try folder.write("date,spot\n2024-01-01,Rincon\n2024-01-02,Bells\n", to: "log.csv")
    let first = try load("log.csv", "--pipeline", "p.json")
    #expect(first.text.contains("the store has no Spot with name Rincon; import it first"), "\(first.text)")
    // Both the import and this replay reject all of their records.
    #expect(try Tool.run("replay", "log.csv.rejects.csv", in: folder).status == 65)
    for (spot, stored) in [("Rincon", "1\n"), ("Bells", "2\n")] {
      try folder.write("name\n\(spot)\n", to: "spots.csv")
      #expect(
        try load("spots.csv", "--entity", "Spot", "--model", "Surfing.xcdatamodeld", "--only-new").status == 0)
      let replay = try Tool.run("replay", "log.csv.rejects.csv", in: folder)
      #expect(replay.status == (spot == "Bells" ? 0 : 65), "\(replay.messages)\(replay.text)")
      #expect(try Programs.sqlite("s", "SELECT count(*) FROM ZSESSION", in: folder) == stored)
    }
    #expect(!folder.exists("log.csv.rejects.csv"))
  }

  @Test func `A dry run: correct the lines, then import`() throws {
    try writeDirty()
    let dry = try Tool.run("validate", "log.csv", in: folder)
    #expect(try next(dry) == "correct the listed lines, then import.")
    for line in ["log.csv:3:", "log.csv:4:"] { #expect(dry.text.contains(line)) }
    try correctLog()
    #expect(try load("log.csv").status == 0)
  }

  @Test func `A damaged file of an inbox: correct it where it is now, and move it back`() throws {
    try FileManager.default.createDirectory(at: folder.file("in"), withIntermediateDirectories: false)
    try folder.write(
      #"{"name": "n", "extends": "surf-log", "inbox": {"folder": "in", "settleSeconds": 0}, "store": "s"}"#,
      to: "n.json")
    try folder.write("a,b\n1,2\n", to: "in/log.csv")
    let failed = try Tool.run("run", "n.json", in: folder)
    #expect(failed.status == 65)
    let advice = try next(failed)
    let words = try #require(advice.wholeMatch(of: /correct (.+), and move it back to the inbox for the next run\./))
    let file = String(words.1)
    #expect(file.contains("/failed/"))
    try (Logs.header + "2014-07-14,3ft,,,A,4\n").write(toFile: file, atomically: false, encoding: .utf8)
    #expect(try Tool.shell("mv '\(file)' in/", in: folder).status == 0)
    #expect(try Tool.run("run", "n.json", in: folder).status == 0)
    #expect(try entries() == "1\n")
  }

  @Test func `A spreadsheet of another form: the command that guesses it`() throws {
    try folder.write(
      "Datum;Spot;Bewertung\n14.07.2014;Rincon;4\n15.07.2014;Malibu;5\n28.07.2014;Malibu;3\n", to: "tabelle.csv")
    let failed = try load("tabelle.csv")
    #expect(failed.status == 65)
    let command = try #require(failed.messages.components(separatedBy: ", run: ").last)
    let output = try Tool.shell(
      command.replacingOccurrences(of: "surfjournal ", with: "\"$surfjournal\" "), in: folder)
    #expect(output.status == 0, "\(command) \(output.messages)")
    #expect(try entries() == "3\n")
  }

  @Test func `A date in another format: the format that the message names`() throws {
    try folder.write(Logs.header + "14.7.2014,3ft,,,A,4\n15.7.2014,3ft,,,B,4\n", to: "log.csv")
    let failed = try load("log.csv")
    #expect(failed.text.contains("looks like d.M.yyyy; add this to the \"formats\" of the column"), "\(failed.text)")
    #expect(try load("log.csv", "--date-format", "d.M.yyyy", "--again").status == 0)
    #expect(try entries() == "2\n")
  }

  @Test func `Usual guesses are answered with the line to type`() throws {
    try writeDirty()
    #expect(try load("log.csv").status == 65)
    for (arguments, hint) in [
      (["list", "s", "--ndjson"], "did you mean '--format jsonl'?"),
      (
        ["list", "s", "--tsv"],
        "did you mean "
          + "'--format tsv'?"
      ),
      (["export", "s", "--date-format", "%d.%m.%Y"], "in these letters it is 'd.M.yyyy'"),
      (["run", "p.yaml"], "pipelines are JSON files"),
      (["run", "log.csv"], "import it with 'surfjournal import log.csv"),
      (["list", "s", "more"], "unexpected argument 'more'"),
      (["ledger", "show", "s"], "unknown action 'show' of ledger; use compact or drop"),
    ] {
      let output = try Programs.run(Tool.url.path, arguments, in: folder)
      #expect(output.status != 0 && output.messages.contains(hint), "\(output.messages)")
    }
    #expect(try Tool.run("export", "s", "--columns", "date, location", in: folder).text.hasPrefix("date,location\n"))
    #expect(try Tool.run("help", "ledger", "drop", in: folder).text.contains("surfjournal ledger drop STORE"))
    #expect(try Tool.run("--help", "import", in: folder).text.hasPrefix("Usage: surfjournal import "))
    #expect(try Tool.run("seed", "log.csv", "-o", "seed.sqlite", "--single-file", in: folder).status == 65)
    #expect(folder.exists("seed.sqlite"))
  }

  @Test func `A value that is typed is read as people write it, and refused in their words`() throws {
    try writeDirty()
    #expect(try load("log.csv").status == 65)
    let dotted = try Tool.run("add", "s", "--date", "14.7.2015", "-y", in: folder)
    #expect(dotted.text.contains("+ date      2015-07-14T00:00:00Z\n"), "\(dotted.text)\(dotted.messages)")
    for word in ["today", "Yesterday"] {
      #expect(try Tool.run("add", "s", "--date", word, "-n", in: folder).text.contains("T00:00:00Z"))
    }
    let refused = try Tool.run("add", "s", "--date", "soon", "-n", in: folder)
    #expect(
      refused.messages == "surfjournal: date 'soon' is not a date; write it like 2014-07-14 or "
        + "2014-07-14T07:30:00Z, or today or yesterday\n")
    #expect(
      try Tool.run("add", "s", "--rating", "7", "-n", in: folder).messages == "surfjournal: rating '7' must "
        + "be 1 to 5\n")
  }
}
