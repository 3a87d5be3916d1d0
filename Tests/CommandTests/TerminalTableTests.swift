import Foundation
import TestSupport
import Testing

@Suite("Tables fit the terminal; pager, colours and default limits are for terminals only")
struct TerminalTableTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func importLog(_ count: Int, place: String = "Rincon") throws {
    var text = Logs.header
    for index in 0..<count { text += "2014-07-14T07:00:00Z,\(index + 1)ft,12,Glassy,\(place) \(index),4\n" }
    try folder.write(text, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", "--chunk-rows", "10000", in: folder).status == 0)
  }

  /// The columns of each line by Python, which has Unicode's table.
  private func widths(_ text: String) throws -> [Int] {
    let output = try Programs.python(
      """
      import sys, unicodedata
      for line in sys.argv[1].splitlines():
          print(sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line))
      """, text, in: folder)
    return output.split(separator: "\n").compactMap { Int($0) }
  }

  @Test func `Columns of wide characters are aligned, and cut where they would not fit`() throws {
    let places = ["湘南・鵠沼海岸", "Rincon", "Cafe\u{301} del Mar", "🏄 Praia do Norte, a place with a long name and no end"]
    var text = Logs.header
    for (index, place) in places.enumerated() { text += "2014-07-1\(index),3ft,12,Glassy,\"\(place)\",4\n" }
    try folder.write(text, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 0)
    let list = try TerminalOutput.run("list", "s", "--color", "never", columns: 70, in: folder)
    #expect(list.status == 0)
    let lines = list.seen.split(separator: "\n").map(String.init)
    #expect(lines.count == 5, "\(list.seen)")
    #expect(try widths(list.seen).allSatisfy { $0 <= 70 })
    // The last column begins at the same place in each line.
    let beginnings = lines.map { String($0.prefix(upTo: $0.lastIndex(of: " ") ?? $0.endIndex)) }
    let starts = try widths(beginnings.joined(separator: "\n"))
    #expect(Set(starts).count == 1, "\(list.seen)")
    #expect(list.seen.contains("…"))
  }

  @Test func `Columns without space are left out and named`() throws {
    try importLog(1)
    let list = try TerminalOutput.run("list", "s", "--color", "never", columns: 30, in: folder)
    #expect(list.seen.split(separator: "\n")[0].contains("id  date"))
    #expect(list.seen.contains("The terminal is too narrow for "))
    #expect(list.seen.contains("location"))
    #expect(try widths(String(list.seen.prefix { $0 != "T" }.split(separator: "\n")[0])).allSatisfy { $0 <= 30 })
  }

  @Test func `A terminal gets the first 100 entries, and how to see the others; a pipe gets all`() throws {
    try importLog(1234)
    let list = try TerminalOutput.run("list", "s", in: folder)
    #expect(list.seen.split(separator: "\n").count == 102)
    let advice = "… and 1,134 more; list all with --limit 1234"
    #expect(list.seen.contains(advice), "\(list.seen.suffix(100))")
    let all = try TerminalOutput.run("list", "s", "--limit", "1234", in: folder)
    #expect(all.seen.split(separator: "\n").count == 1235)
    #expect(try Tool.run("list", "s", in: folder).text.split(separator: "\n").count == 1235)
    #expect(try TerminalOutput.run("list", "s", "--json", in: folder).seen.contains("Rincon 1233"))
  }

  @Test func `The history of many runs is short on a terminal, and says how to see all`() throws {
    for index in 0..<22 {
      try folder.write(Logs.header + "2014-07-14,3ft,,,A\(index),4\n", to: "log\(index).csv")
      #expect(try Tool.run("import", "log\(index).csv", "--store", "s", in: folder).status == 0)
    }
    let history = try TerminalOutput.run("history", "s", lines: 100, in: folder)
    #expect(history.seen.contains("… and 2 earlier runs; list all with --limit 22"), "\(history.seen)")
    let most = try TerminalOutput.run("history", "s", "--limit", "21", lines: 100, in: folder)
    #expect(most.seen.contains("… and 1 earlier run; list all with --limit 22"), "\(most.seen)")
    let all = try TerminalOutput.run("history", "s", "--limit", "22", lines: 100, in: folder)
    #expect(all.seen.contains("log0.csv") && !all.seen.contains("earlier run"))
    #expect(try Tool.run("history", "s", in: folder).text.contains("log0.csv"))
  }

  // MARK: The pager

  @Test func `A result longer than the terminal goes to the pager, a short one does not`() throws {
    try importLog(60)
    let pager = ["PAGER": "cat > paged; echo paged"]
    let long = try TerminalOutput.run("list", "s", environment: pager, in: folder)
    #expect(long.seen == "paged\n" && long.status == 0)
    #expect(try folder.text("paged").split(separator: "\n").count == 61)
    let short = try TerminalOutput.run("list", "s", "--limit", "3", environment: pager, in: folder)
    #expect(short.seen.split(separator: "\n").count == 4)
    for arguments in [["--no-pager"], ["--csv"]] {
      let plain = try TerminalOutput.run("list", "s", arguments[0], environment: pager, in: folder)
      #expect(plain.seen.contains("Rincon 59"))
    }
    #expect(try Tool.run("list", "s", in: folder, environment: pager).text.split(separator: "\n").count == 61)
    let inspected = try TerminalOutput.run("inspect", "s", lines: 4, environment: pager, in: folder)
    #expect(inspected.seen == "paged\n")
  }

  @Test func `A pager that is left early is not an error, and one that does not start is named`() throws {
    try importLog(90)
    let left = try TerminalOutput.run("list", "s", environment: ["PAGER": "head -n 1"], in: folder)
    #expect(left.status == 0 && left.seen.split(separator: "\n").count == 1)
    let none = try TerminalOutput.run("list", "s", environment: ["PAGER": "no-such-pager"], in: folder)
    #expect(none.status == 69)
    #expect(try folder.text("err").contains("the pager 'no-such-pager' can't be started"))
  }

  // MARK: Colours

  @Test func `Colours are for terminals that want them, or asked for`() throws {
    try importLog(2)
    let bold = "\u{1B}[1mid"
    #expect(try TerminalOutput.run("list", "s", in: folder).seen.contains(bold))
    #expect(try !TerminalOutput.run("list", "s", environment: ["NO_COLOR": "1"], in: folder).seen.contains("\u{1B}"))
    #expect(try !TerminalOutput.run("list", "s", environment: ["TERM": "dumb"], in: folder).seen.contains("\u{1B}"))
    #expect(try !TerminalOutput.run("list", "s", "--color", "never", in: folder).seen.contains("\u{1B}"))
    #expect(try !Tool.run("list", "s", in: folder).text.contains("\u{1B}"))
    #expect(try Tool.run("list", "s", "--color=always", in: folder).text.contains(bold))
    let json = try Tool.run("list", "s", "--json", "--color=always", in: folder)
    #expect(!json.text.contains("\u{1B}"))
    #expect(try Tool.run("list", "s", "--color", "red", in: folder).status == 64)
  }

  @Test func `The verdict has the colour of its meaning, and values of a store can't make colours`() throws {
    try folder.write(Logs.header + "2014-07-14,3ft,,,A\u{1B}[31m,4\nsoon,,,,B,4\n", to: "log.csv")
    let run = try Tool.run("import", "log.csv", "--store", "s", "--color=always", in: folder).text
    #expect(run.hasPrefix("\u{1B}[33msurf-log: import done, 1 error\u{1B}[0m\n"), "\(run)")
    #expect(run.contains("\n\u{1B}[1mNext:\u{1B}[0m correct the records in "))
    let list = try Tool.run("list", "s", "--color=always", in: folder).text
    #expect(list.contains("A\\u{1B}[31m"))
    let history = try Tool.run("history", "s", "--color=always", in: folder).text
    #expect(history.contains("\u{1B}[33mwith errors\u{1B}[0m"))
  }

  // MARK: Formats

  @Test func `Each format of a list, an entry and a history has the same content`() throws {
    try importLog(3)
    _ = try Tool.run("import", "missing.csv", "--store", "s", in: folder)
    let csv = try Tool.run("list", "s", "--format", "csv", in: folder).text
    #expect(csv == (try Tool.run("list", "s", "--csv", in: folder).text))
    #expect(
      try Tool.run("list", "s", "--format", "tsv", in: folder).text == csv.replacingOccurrences(of: ",", with: "\t"))
    let json = try Tool.run("list", "s", "--format", "json", in: folder).bytes
    let lines = try Tool.run("list", "s", "--format", "jsonl", in: folder).text.split(separator: "\n")
    let objects = try #require(try JSONSerialization.jsonObject(with: json) as? [NSDictionary])
    #expect(try lines.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? NSDictionary } == objects)
    #expect(
      try Tool.run("show", "s", "1", "--format", "json", in: folder).text
        == (try Tool.run("show", "s", "1", "--json", in: folder).text))
    let answer = try Programs.python(
      """
      import csv, io, json, sys
      whole, lines, table = json.loads(sys.argv[1])["runs"], sys.argv[2].splitlines(), sys.argv[3]
      assert [json.loads(line) for line in lines] == whole
      rows = list(csv.DictReader(io.StringIO(table)))
      for run, row in zip(whole, rows, strict=True):
          assert row["run"] == run["run"] and row["outcome"] == run["outcome"]
          assert row["message"] == run.get("message", "") and int(row["read"]) == run["counts"]["read"]
      print([row["outcome"] for row in rows], rows[0]["exitCode"])
      """,
      try Tool.run("history", "s", "--json", in: folder).text,
      try Tool.run("history", "s", "--format", "jsonl", in: folder).text,
      try Tool.run("history", "s", "--format", "csv", in: folder).text, in: folder)
    #expect(answer == "['failed', 'completed'] 66\n")
    for wrong in [
      ["list", "--csv", "--json"], ["list", "--csv", "--format", "json"], ["history", "--format", "xml"],
    ] {
      #expect(try Programs.run(Tool.url.path, [wrong[0], "s"] + wrong.dropFirst(), in: folder).status == 64)
    }
  }

  @Test func `A failed run is in the history with its reason`() throws {
    try importLog(1)
    _ = try Tool.run("import", "missing.csv", "--store", "s", in: folder)
    let text = try Tool.run("history", "s", in: folder).text
    #expect(text.contains("  failed "))
    #expect(text.contains("missing.csv") && text.contains("(exit status 66)"), "\(text)")
    let narrow = try TerminalOutput.run("history", "s", "--color", "never", columns: 60, in: folder).seen
    // A path is not divided.
    let divided = narrow.split(separator: "\n").filter { !$0.contains("/") }.joined(separator: "\n")
    #expect(try widths(divided).allSatisfy { $0 <= 60 }, "\(narrow)")
  }

  @Test func `A list that found nothing because of the case of letters says so`() throws {
    try importLog(1)
    let output = try Tool.run("list", "s", "--where", "location LIKE '*rincon*'", in: folder)
    #expect(
      output.messages == "surfjournal: s has no such entries; LIKE distinguishes upper and lower case, and "
        + "LIKE[c] does not\n")
    #expect(try Tool.run("list", "s", "--where", "location LIKE[c] '*rincon*'", in: folder).text.contains("Rincon 0"))
  }
}
