import Foundation
import TestSupport
import Testing

/// `surfjournal diff`: what it shows, its reports and its status. `DiffModelTests` compares what it finds with a model.
@Suite struct DiffCommandTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.write(Self.old, to: "a.csv")
    try folder.write(Self.new, to: "b.csv")
  }

  private static let old =
    Logs.header
      + """
      2014-07-14,3 ft,12,Glassy,Rincon,4
      2014-07-15,2 ft,12,Glassy,Malibu,3
      2014-07-16,2 ft,12,Glassy,Malibu,3

      """
  private static let new =
    Logs.header
      + """
      2014-07-15,2 ft,12,Glassy,Malibu,3
      7/14/14,4 ft,12,Glassy,Rincon,
      2014-07-18,,12,Glassy,"New place, far",3

      """
  private static let byKey = ["--key", "date,location"]

  private func diff(_ arguments: [String], status: Int32 = 0) throws -> ProgramOutput {
    let output = try Programs.run(Tool.url.path, ["diff"] + arguments, in: folder)
    #expect(output.status == status, "\(output.messages)")
    return output
  }

  private func makeStore() throws {
    #expect(try Tool.run("import", "a.csv", "--store", "s", "-q", in: folder).status == 0)
  }

  private func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
  }

  @Test func `Differences between files are shown by key, with old and new values and lines`() throws {
    #expect(
      try diff(["a.csv", "b.csv"] + Self.byKey).text == """
        --- a.csv
        +++ b.csv
        by key: date, location
        compared: height, period, wind, rating

        ~ line 3 (old line 2): date 2014-07-14T00:00:00Z · location Rincon
            height: 3 ft → 4 ft
            rating: 4 → (none)
        + line 4: date 2014-07-18T00:00:00Z · location New place, far
            period 12 · wind Glassy · rating 3
        - old line 4: date 2014-07-16T00:00:00Z · location Malibu
            height 2 ft · period 12 · wind Glassy · rating 3

          added       1
          changed     1
          unchanged   1
          missing     1
          note: b.csv: date is read as M/d/yy: 1 of 1 can't be d/M/yy

        """)
  }

  @Test func `A store's entries are named by their numbers, and the store stays as it is`() throws {
    try makeStore()
    let before = try folder.hashes(["s"])
    let names = try files()
    let text = try diff(["b.csv", "--store", "s"] + Self.byKey).text
    #expect(text.contains("~ line 3 (entry 1): date 2014-07-14T00:00:00Z · location Rincon\n    height: 3 ft → 4 ft\n"))
    #expect(text.contains("- entry 3: date 2014-07-16T00:00:00Z · location Malibu\n"))
    #expect(try folder.hashes(["s"]) == before)
    #expect(try files() == names)
    // What it says is what an import that updates then does.
    try folder.write(
      #"{"extends": "surf-log", "name": "p", "key": ["date", "location"], "duplicates": "update"}"#, to: "p.json")
    let summary = try Tool.run("import", "b.csv", "--store", "s", "--pipeline", "p.json", "--json", in: folder).json()
    #expect(summary.counts.inserted == 1 && summary.counts.updated == 1 && summary.counts.unchanged == 1)
    let after = try diff(["b.csv", "--store", "s", "--pipeline", "p.json", "-q"]).text
    #expect(after.contains("added       0\n  changed     0\n  unchanged   3\n  missing     1\n"))
  }

  @Test func `Without a key whole records are compared, each as often as it occurs`() throws {
    try folder.write(Self.old + "2014-07-15,2 ft,12,Glassy,Malibu,3\n", to: "c.csv")
    let text = try diff(["a.csv", "c.csv"]).text
    #expect(text.contains("whole records: date, height, period, wind, location, rating\n"))
    #expect(text.contains("+ line 5\n") && text.contains("added       1\n  unchanged   3\n  missing     0\n"))
    #expect(!text.contains("\n  changed"))
    #expect(try diff(["c.csv", "a.csv", "--exit-code"], status: 1).text.contains("- old line 5\n"))
    #expect(try diff(["a.csv", "a.csv", "--exit-code"]).text.contains("unchanged   3\n"))
  }

  @Test func `A key that occurs twice on a side is listed, and not compared`() throws {
    try folder.write(Self.new + "2014-07-15,9 ft,12,Glassy,Malibu,1\n", to: "b.csv")
    let text = try diff(["a.csv", "b.csv"] + Self.byKey).text
    let why = "not compared, because its key occurs more than once\n"
    #expect(text.contains("! line 2: date 2014-07-15T00:00:00Z · location Malibu\n    of b.csv: \(why)"))
    #expect(text.contains("! line 5: date 2014-07-15T00:00:00Z · location Malibu\n    of b.csv: \(why)"))
    #expect(text.contains("! old line 3: date 2014-07-15T00:00:00Z · location Malibu\n    of a.csv: \(why)"))
    #expect(text.contains("duplicate keys, new  2\n  duplicate keys, old  1\n"))
  }

  @Test func `Records that can't be read are listed and give status 65, whatever else differs`() throws {
    try folder.write(Self.new + "yesterday,,,,Nowhere,3\n", to: "b.csv")
    let output = try diff(["a.csv", "b.csv", "--exit-code"] + Self.byKey, status: 65)
    #expect(output.text.contains("b.csv:5: date \"yesterday\": type-error: "))
    #expect(output.text.contains("rejected    1\n") && output.text.contains("note: 1 record could not be read"))
    let lines = try diff(["a.csv", "b.csv", "--json"] + Self.byKey, status: 65).text.split(separator: "\n")
    #expect(lines.contains { $0.contains(#""kind":"rejected""#) && $0.contains(#""line":5"#) })
    #expect(lines.last?.contains(#""rejectedNew":1"#) == true && lines.last?.contains(#""exitCode":65"#) == true)
  }

  @Test func `Only columns that both files have are compared`() throws {
    try folder.write("location,date,rating\nRincon,2014-07-14,4\nMalibu,2014-07-15,1\n", to: "c.csv")
    let text = try diff(["a.csv", "c.csv", "--missing-columns", "ignore"] + Self.byKey).text
    #expect(text.contains("compared: rating\n"))
    #expect(text.contains("    rating: 3 → 1\n") && text.contains("unchanged   1\n"))
    try folder.write("date\n2014-07-14\n", to: "d.csv")
    let refused = try diff(["a.csv", "d.csv", "--missing-columns", "ignore"] + Self.byKey, status: 65)
    #expect(refused.messages.contains("the pipeline's key needs it"), "\(refused.messages)")
  }

  @Test func `A file does not differ from itself, whatever its keys are, and -q prints the counts only`() throws {
    let log = "date,location\n2014-07-14,a\n2014-07-14,b\n,c\n,c\n2014-07-15,d\n"
    try folder.write(#"{"name": "p", "columns": ["date", "location"], "key": ["date"]}"#, to: "p.json")
    try folder.write(log, to: "c.csv")
    let same = try diff(["c.csv", "c.csv", "--pipeline", "p.json", "--exit-code"]).text
    #expect(same.contains("! line 2: ") && same.contains("note: both sides have the same entries"), "\(same)")
    try folder.write(log.replacingOccurrences(of: ",b", with: ",e"), to: "d.csv")
    #expect(try !diff(["c.csv", "d.csv", "--pipeline", "p.json", "--exit-code"], status: 1).text.contains("the same"))
    let quiet = try diff(["c.csv", "d.csv", "--missing-columns", "warn", "-q"], status: 65).text
    #expect(!quiet.contains("missing-label") && !quiet.contains("wrong"), "\(quiet)")
    #expect(quiet.contains("rejected"))
  }

  @Test func `Reports are written in the format of their extension`() throws {
    let reports = ["r.txt", "r.jsonl", "r.html"].flatMap { ["--report", $0] }
    let text = try diff(["a.csv", "b.csv"] + Self.byKey + reports).text
    #expect(try folder.text("r.txt") == text)
    #expect(try folder.text("r.jsonl") == diff(["a.csv", "b.csv", "--json"] + Self.byKey).text)
    let page = try folder.text("r.html")
    #expect(page.hasPrefix("<!doctype html>") && page.contains("<code>3 ft</code> → <code>4 ft</code>"))
    #expect(page.contains("New place, far"))
    let tags = try Programs.python(
      """
      import html.parser
      void, stack, ids = {"meta", "link", "br", "path", "circle"}, [], []
      class Page(html.parser.HTMLParser):
          def handle_starttag(self, tag, attributes):
              ids.extend(value for name, value in attributes if name == "id")
              if tag not in void: stack.append(tag)
          def handle_endtag(self, tag):
              if tag not in void and stack.pop() != tag: print("wrong", tag)
      Page().feed(open("r.html").read())
      print(stack, len(ids) - len(set(ids)))
      """, in: folder)
    #expect(tags == "[] 0\n")
  }

  @Test func `Values can't become markup, and a page shows a bounded number of them`() throws {
    try folder.write(Logs.header + "2014-07-14,,,,<script>alert(1)</script>,4\n", to: "c.csv")
    try Logs.write(records: 1200, to: "d.csv", in: folder)
    _ = try diff(["a.csv", "c.csv", "--report", "c.html"])
    #expect(try !folder.text("c.html").contains("<script>"))
    _ = try diff(["a.csv", "d.csv", "--report", "d.html"])
    #expect(try folder.text("d.html").contains("500 of 1,200 shown"))
  }

  @Test func `The JSON lines fit their schema`() throws {
    try folder.write(Self.new + "yesterday,,,,Nowhere,3\n2014-07-15,,,,Malibu,\n", to: "b.csv")
    try makeStore()
    let lines =
      try diff(["a.csv", "b.csv", "--json"] + Self.byKey, status: 65).text
      + diff(["b.csv", "--store", "s", "--json"], status: 65).text + "{\"kind\": \"added\"}\n"
    try folder.write(lines, to: "lines.jsonl")
    let kinds = try Programs.python(
      """
      import json, jsonschema, sys
      schema = json.load(open(sys.argv[1]))
      jsonschema.Draft202012Validator.check_schema(schema)
      validator = jsonschema.Draft202012Validator(schema)
      lines = [json.loads(line) for line in open("lines.jsonl")]
      print(sum(not validator.is_valid(line) for line in lines), validator.is_valid(lines[-1]))
      print(sorted({line["kind"] for line in lines}))
      """, Repository.path("Pipelines/difference.schema.json"), in: folder)
    // The last one is wrong on purpose, to see that the validator looks.
    #expect(kinds == "1 False\n['added', 'changed', 'counts', 'duplicate', 'missing', 'rejected']\n")
  }

  @Test func `The second file may be standard input, the first is read twice and may not`() throws {
    let output = try Tool.run(
      "diff", "a.csv", "-", "--key", "date,location", "--exit-code", in: folder, input: Self.old)
    #expect(output.status == 0, "\(output.messages)")
    #expect(output.text.contains("+++ standard input\n"))
    let refused = try Tool.run("diff", "-", "b.csv", in: folder, input: Self.old)
    #expect(refused.status == 66 && refused.messages.contains("standard input is a pipe"))
    let pipe = try Tool.shell(#""$surfjournal" diff <(cat a.csv) b.csv"#, in: folder)
    #expect(pipe.status == 66 && pipe.messages.contains("is read twice"), "\(pipe.messages)")
  }

  @Test func `Long texts are shown where they begin to differ`() throws {
    let start = String(repeating: "surf ", count: 60)
    try folder.write("date,location\n2014-07-14,\(start)north\n", to: "c.csv")
    try folder.write("date,location\n2014-07-14,\(start)south\n", to: "d.csv")
    let text = try diff(["c.csv", "d.csv", "--key", "date", "--missing-columns", "ignore"]).text
    #expect(text.contains("location: …surf surf surf surf north"), "\(text)")
    #expect(text.contains("→ …surf surf surf surf south"))
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }

  @Test(arguments: ["preview -", "diff a.csv -"])
  func `A signal and a timeout end it with status 75, also while its input keeps silent`(_ command: String) throws {
    try Logs.write(records: 20_000, to: "long.csv", in: folder)
    // More than the pipe holds: when it is written, the program has begun to read.
    let output = try Tool.shell(
      """
      mkfifo pipe; exec 3<>pipe
      "$surfjournal" \(command) < pipe > shown & reading=$!
      cat long.csv >&3; kill -INT $reading; wait $reading; echo $?
      "$surfjournal" \(command) --timeout 0.2 < pipe > shown & reading=$!
      cat long.csv >&3; wait $reading; echo $?
      """, in: folder)
    #expect(output.text == "75\n75\n")
    #expect(output.messages.contains("it was cancelled; run it again\n"), "\(output.messages)")
    #expect(output.messages.contains("the timeout of 0.2 s ended it; allow it more time with --timeout\n"))
  }

  @Test func `Mistakes of the command line and missing files have their status`() throws {
    try makeStore()
    let mistakes: [([String], Int32, String)] = [
      ([], 64, "no file is given"), (["a.csv"], 64, "the second side is missing"),
      (["a.csv", "b.csv", "c.csv"], 64, "unexpected argument 'c.csv'"),
      (["a.csv", "b.csv", "--store", "s"], 64, "two files and a store"),
      (["a.csv", "b.csv", "--report", "r.xml"], 64, "must be .txt, .jsonl or .html"),
      (["a.csv", "b.csv", "--key", "spot"], 64, "--key: "), (["a.csv", "b.csv", "-q", "--json"], 64, "exclude"),
      (["a.csv", "none.csv"], 66, "none.csv"), (["none.csv", "a.csv"], 66, "none.csv"),
      (["a.csv", "--store", "none"], 66, "the store none does not exist"),
      (["a.csv", "--store", "a.csv"], 65, "a.csv"),
      (["a.csv", "b.csv", "--report", "none/r.txt"], 73, "does not exist"),
    ]
    for (arguments, status, message) in mistakes {
      let output = try diff(arguments, status: status)
      #expect(output.messages.contains(message), "\(arguments): \(output.messages)")
      #expect(output.text.isEmpty)
    }
    try FileManager.default.copyItem(atPath: folder.path("b.csv"), toPath: folder.path("b.txt"))
    let overwriting = try diff(["a.csv", "b.txt", "--report", "b.txt"], status: 64)
    #expect(overwriting.messages.contains("would overwrite"), "\(overwriting.messages)")
    #expect(try folder.text("b.txt") == Self.new)
  }
}
