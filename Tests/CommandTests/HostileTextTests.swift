import Foundation
import TestSupport
import Testing

/// Nothing from a file reaches a terminal, a page or a message as it is: not from its name, its labels or its values.
@Suite struct HostileTextTests {
  static let name = "a\u{1B}[31m'\"\u{202E}<script>alert(1)</script>&\nforged\t1.csv"
  static let value =
    "\u{1B}]0;owned\u{7}\u{1B}[2J\u{9B}31m\u{202E}\u{2066}</script><img src=x onerror=alert(1)>'\"`$(id);--../../x\r\nnext"

  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    // A slash can't be part of a file's name.
    let quoted = Self.value.replacingOccurrences(of: "\"", with: "\"\"")
    let text =
      "date,height,period,wind,location,rating,\"\(quoted)\"\n"
      + "2014-07-14T07:30:00Z,3.9,12,Glassy,\"\(quoted)\",4,x\n"
      + "\"\(quoted)\",3.9,12,Glassy,Rincon,4,x\n2014-07-15T07:30:00Z,,,\"\(quoted)\",Malibu,\"\(quoted)\",x\n"
    try folder.write(text, to: fileName)
  }

  private var fileName: String { Self.name.replacingOccurrences(of: "/", with: ":") }

  /// The characters that a terminal or a reader's eye would act upon, and lines that begin with what a file holds.
  static func dangers(in text: String) -> [String] {
    let forged = ["forged", "next"].filter { text.hasPrefix($0) || text.contains("\n\($0)") }
    return forged
      + text.unicodeScalars.filter { scalar in
        switch scalar.value {
        case 0x0A, 0x09: false
        case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
      }.map { String($0.value, radix: 16) }
  }

  private func check(_ arguments: String..., status: Set<Int32> = [0, 65]) throws {
    try check(arguments, status: status)
  }

  private func check(_ arguments: [String], status: Set<Int32> = [0, 65]) throws {
    let output = try Programs.run(Tool.url.path, arguments, in: folder)
    #expect(status.contains(output.status), "\(arguments[0]): \(output.status) \(output.messages)")
    #expect(String(validating: output.bytes, as: UTF8.self) != nil)
    #expect(Self.dangers(in: output.text) == [], "\(arguments[0]) \(arguments.last ?? "")")
    #expect(Self.dangers(in: output.messages) == [], "\(arguments[0]) \(arguments.last ?? "")")
  }

  @Test func `What commands print is safe for a terminal`() throws {
    for more in [[], ["--json"]] {
      for command in ["validate", "preview", "guess"] where command != "guess" || more.isEmpty {
        let output = try Programs.run(Tool.url.path, [command, fileName] + more, in: folder)
        #expect([0, 65].contains(output.status), "\(command): \(output.messages)")
        #expect(Self.dangers(in: output.text) == [] && Self.dangers(in: output.messages) == [], "\(command) \(more)")
      }
    }
    // A label of several lines is refused; the rest of the commands need the entries.
    try check("import", fileName, "--store", "n.sqlite", status: [65])
    let ignored = ["--extra-columns", "ignore"]
    try check(["import", fileName, "--store", "s.sqlite", "--log", "-"] + ignored)
    try check(["import", fileName, "--store", "t.sqlite", "--json"] + ignored)
    try check("history", "s.sqlite")
    try check("history", "s.sqlite", "--json")
    try check("inspect", "s.sqlite")
    try check("inspect", "s.sqlite", "--json")
    try check("verify", "s.sqlite")
    try check("list", "--store", "s.sqlite")
    try check("list", "--store", "s.sqlite", "--json")
    try check("show", "1", "--store", "s.sqlite")
    try check("show", "1", "--store", "s.sqlite", "--json")
    try check(["diff", fileName, "--store", "s.sqlite"] + ignored)
    try check(["diff", fileName, "--store", "s.sqlite", "--json"] + ignored)
    try check("import", Self.value.replacingOccurrences(of: "/", with: ":"), "--store", "s.sqlite", status: [66])
    try check("show", Self.value, "--store", "s.sqlite", status: [64, 66])
    try check("list", "--store", "s.sqlite", "--where", Self.value, status: [64, 78])
    try check(Self.value, status: [64])
  }

  /// A line break in a name would begin a line that reads as one of the program.
  @Test func `A name with a line break stays on its line`() throws {
    try folder.write("date,location\n2020-01-01,Rincon\n2020-01-02,Malibu\n", to: fileName)
    let store = "s\nforged\t.sqlite"
    let quiet = try Programs.run(Tool.url.path, ["import", fileName, "--store", store, "-q"], in: folder)
    #expect(quiet.status == 0, "\(quiet.messages)")
    for command in ["inspect", "verify", "history"] { try check(command, store, status: [0]) }
    try check("split", fileName, "--rows", "1", "--to", "p\nforged", status: [0])
    try check("undo", store, "--dry-run", status: [0])
    try check("undo", store, "--yes", status: [0])
    let undone = try Programs.run(Tool.url.path, ["verify", store], in: folder)
    #expect(undone.text.contains("s\\u{0A}forged\\u{09}.sqlite: "), "\(undone.text)")
    let commands = #"[{"run": ["/bin/echo", "a\nforged"]}]"#
    for more in [#""notify": {"commands": \#(commands)}"#, #""rejects": "r\nforged/""#, #""no\nforged": 1"#] {
      let pipeline = #"{"extends": "surf-log", "name": "n", "description": "d\nforged\tb", "source": null, \#(more)}"#
      try folder.write(pipeline, to: "n.json")
      try check("check", "n.json", status: [0, 78])
    }
  }

  @Test func `Reports and logs hold it as text, not as markup`() throws {
    var forgotten: Set<String> = []
    let reports = ["r.html", "r.xml", "r.txt", "r.prom", "r.json", "e.log", "e.jsonl", "d.csv.jsonl"]
    let rejecting = try Tool.run(
      "import", fileName, "--store", "d.sqlite", "--rejects", "d.csv", "--extra-columns", "ignore", "-q", "--log",
      "e.jsonl", "--log-format", "json", in: folder)
    #expect(rejecting.status == 65, "\(rejecting.messages)")
    let output = try Tool.run(
      "import", fileName, "--store", "s.sqlite", "--report", "r.html", "--report", "r.xml", "--report", "r.txt",
      "--report", "r.prom", "--report", "r.json", "--log", "e.log", in: folder)
    #expect([0, 65].contains(output.status), "\(output.messages)")
    for report in reports {
      let text = try folder.text(report)
      #expect(Self.findings(in: report, text) == [], "\(report)")
      // Each escape that is there is needed: without it the check fails.
      for (escaped, raw) in Self.escapes(of: report) {
        guard let range = text.range(of: escaped) else { continue }
        forgotten.insert(escaped)
        #expect(
          Self.findings(in: report, text.replacingCharacters(in: range, with: raw)) != [], "\(report): \(escaped)")
      }
    }
    #expect(forgotten.isSuperset(of: ["&lt;script&gt;alert", "\\u{1B}", "\\u202E"]), "\(forgotten)")
    for json in ["r.json", "e.jsonl", "d.csv.jsonl"] { #expect(try folder.text(json).contains("\\u202E"), "\(json)") }
    try Programs.python("import xml.dom.minidom; xml.dom.minidom.parse('r.xml')", in: folder)
  }

  /// What a report must not contain.
  private static func findings(in report: String, _ text: String) -> [String] {
    var found = dangers(in: text)
    if report.hasSuffix("html") || report.hasSuffix("xml") {
      // Their lines have no meaning.
      found.removeAll { ["forged", "next"].contains($0) }
      found += ["<script>alert", "<img src=x"].filter(text.contains)
    }
    if report.hasSuffix("jsonl") {
      for line in text.split(separator: "\n") where (try? JSONSerialization.jsonObject(with: Data(line.utf8))) == nil {
        found.append("no JSON: \(line)")
      }
    }
    return found
  }

  /// The forms in which a report has what would be dangerous.
  private static func escapes(of report: String) -> [(escaped: String, raw: String)] {
    let controls = [("\\u{1B}", "\u{1B}"), ("\\u{7}", "\u{7}"), ("\\u{202E}", "\u{202E}"), ("\\u{9B}", "\u{9B}")]
    if report.hasSuffix("jsonl") {
      return [("\\u202E", "\u{202E}"), ("\\u{1B}", "\u{1B}"), ("\\\"", "\"")]
    }
    if report.hasSuffix("json") { return [("\\u202E", "\u{202E}"), ("\\u{1B}", "\u{1B}")] }
    if report.hasSuffix("html") || report.hasSuffix("xml") {
      return controls + [
        ("&lt;script&gt;alert", "<script>alert"), ("&lt;img src=x", "<img src=x"),
      ]
    }
    return controls
  }

  @Test func `What a report advises works for such a name`() throws {
    let fixed = "date,height,period,wind,location,rating\nsoon,3.9,12,Glassy,Rincon,4\n"
    try folder.write(fixed, to: fileName)
    #expect(try Tool.run("import", fileName, "--store", "s.sqlite", "--report", "r.txt", in: folder).status == 65)
    let report = try folder.text("r.txt")
    let advice = try #require(report.components(separatedBy: "then run: surfjournal ").last, "\(report)")
    let rejects = fileName + ".rejects.csv"
    try folder.write(fixed.replacingOccurrences(of: "soon", with: "2014-07-14"), to: rejects)
    let replayed = try Programs.run(
      "/bin/bash", ["-c", "\"$surfjournal\" \(advice)"], in: folder,
      environment: [
        "surfjournal": Tool.url.path
      ])
    #expect(replayed.status == 0, "\(advice): \(replayed.messages)")
    #expect(!folder.exists(rejects))
  }

  /// A page or a list in a terminal that shows a value as it is.
  @Test func `An escape that is forgotten on a terminal is found`() throws {
    let output = try Programs.run(Tool.url.path, ["validate", fileName], in: folder)
    for (escaped, raw) in [("\\u{1B}", "\u{1B}"), ("\\u{202E}", "\u{202E}")] {
      let text = output.text + output.messages
      let range = try #require(text.range(of: escaped), "\(text)")
      #expect(Self.dangers(in: text.replacingCharacters(in: range, with: raw)) != [])
    }
  }

  @Test func `The values themselves are kept and exported as they are`() throws {
    let imported = try Tool.run("import", fileName, "--store", "s.sqlite", "--extra-columns", "ignore", in: folder)
    #expect([0, 65].contains(imported.status), "\(imported.messages)")
    let exported = try Tool.run("export", "--store", "s.sqlite", "--output", "-", "-q", in: folder)
    let read = try Programs.python(
      """
      import csv, io, sys
      rows = list(csv.DictReader(io.StringIO(open("out.csv", newline="").read())))
      sys.stdout.write(rows[0]["location"])
      """, in: try with("out.csv", exported.bytes))
    #expect(read == Self.value)
  }

  private func with(_ name: String, _ bytes: Data) throws -> TemporaryFolder {
    try bytes.write(to: folder.file(name))
    return folder
  }
}
