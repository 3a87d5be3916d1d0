import Foundation
import TestSupport
import Testing

/// The file next to the rejects, read by Python as the documentation says.
@Suite(.serialized) struct RejectDetailsTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// Prints a line for each issue: reject, record, line, byte, code, column, field, value, message.
  private static let reader = """
    import json, sys
    kinds, reject, layout = {}, 0, 0
    for line in map(json.loads, open(sys.argv[1])):
        if "rejects" in line:
            layout = line["rejects"]
        elif layout == 1:
            reject = line["reject"]
            print(reject, line["record"], line["line"], line["byte"], line["code"], line.get("column"),
                  line.get("field"), line.get("value"), line["message"], sep="|")
        elif "kind" in line:
            kinds[line["kind"]] = line
        else:
            reject += 1
            for number, *rest in line["issues"]:
                kind = kinds[number]
                message = kind["message"]
                if "messageEnd" in kind: message += str(rest[1]) + kind["messageEnd"]
                print(reject, *line["record"], kind["code"], kind.get("column"), kind.get("field"),
                      rest[0] if rest else None, message, sep="|")
    """

  private func details(_ name: String = "log.csv.rejects.csv.jsonl") throws -> [String] {
    try Programs.python(Self.reader, name, in: folder).split(separator: "\n").map(String.init)
  }

  /// The same lines, without the number of the reject, of the errors that a report lists.
  private func reported(_ name: String) throws -> [String] {
    try Programs.python(
      """
      import json, sys
      for issue in json.load(open(sys.argv[1]))["issues"]["listed"]:
          if issue["severity"] == "error":
              print(issue["record"], issue["line"], issue["byte"], issue["code"], issue.get("column"),
                    issue.get("field"), issue.get("value"), issue["message"], sep="|")
      """, name, in: folder
    ).split(separator: "\n").map(String.init)
  }

  private static func withoutReject(_ line: String) -> String {
    line.split(separator: "|", maxSplits: 1).last.map(String.init) ?? ""
  }

  @Test func `Each reject has its issues in one line, and each kind of issue is there once`() throws {
    try folder.write(
      Logs.header
        + "2014-07-14,3ft,,,A,4\nsoon,3ft,,,B,9\n2014-07-16,3ft,,,C,7\n2014-07-17,3ft,,,D,4\nlater,3ft,,,E,4\n",
      to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 65)
    let lines = try folder.text("log.csv.rejects.csv.jsonl").split(separator: "\n").map(String.init)
    #expect(lines.count == 6)
    #expect(lines[0].contains(#""rejects":2"#) && lines[0].contains(#""input":"log.csv""#))
    #expect(lines[2].hasPrefix(#"{"kind":2,"code":"constraint-error","column":"rating","field":6,"message":"must be"#))
    #expect(lines[3] == #"{"record":[2,3,61],"issues":[[1,"soon"],[2,"9"]]}"#)
    #expect(lines[4] == #"{"record":[3,4,76],"issues":[[2,"7"]]}"#)
    let found = try details()
    #expect(found.count == 4)
    #expect(found[0].hasPrefix("1|2|3|61|type-error|date|1|soon|is not a date in a declared format; write it as "))
    #expect(found[1].hasPrefix("1|2|3|61|constraint-error|rating|6|9|must be 1 to 5"))
    #expect(found[3].hasPrefix("3|5|6|118|type-error|date|1|later|is not a date"))
  }

  @Test func `A message about an entry of the store names that entry`() throws {
    try folder.write(#"{"name": "p", "columns": ["date", "location"], "key": ["location"]}"#, to: "p.json")
    try folder.write("date,location\n2014-07-14,A\n2014-07-14,B\n", to: "one.csv")
    try folder.write("date,location\n2014-07-15,B\n2014-07-15,C\n2014-07-15,C\n2014-07-15,A\n", to: "log.csv")
    #expect(try Tool.run("import", "one.csv", "--store", "s", "--pipeline", "p.json", in: folder).status == 0)
    let second = try Tool.run(
      "import", "log.csv", "--store", "s", "--pipeline", "p.json", "--report", "r.json", in: folder)
    #expect(second.status == 65)
    let found = try details()
    #expect(found.map(Self.withoutReject) == (try reported("r.json")))
    let messages = found.compactMap { $0.split(separator: "|").last }
    #expect(messages.count == 3)
    #expect(messages[0].contains("(location) already, JournalEntry p2; remove the record"))
    #expect(messages[1].hasPrefix("an earlier record of this input has the same key (location)"))
    #expect(messages[2].contains("JournalEntry p1;"))
  }

  @Test func `The details of many rejects have at most ten times their bytes`() throws {
    let records = (0..<20_000).map { "14.7.2014,Place \($0 % 1000),\($0 % 4 + 6)\n" }.joined()
    try folder.write("date,location,rating\n" + records, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", "-q", in: folder).status == 65)
    #expect(try folder.data("log.csv.rejects.csv.jsonl").count <= 10 * records.utf8.count)
    #expect(try details().count == 40_000)
  }

  private static let values: [String: [String]] = [
    "date": ["2014-07-14", "2014-02-30", "soon", "", "1899-01-01", "4014-07-14", "\"a \"\"b\"\"\""],
    "location": ["Trestles", "", String(repeating: "x", count: 1200), "\u{1}\u{200B}é\\", "\"two\nlines\""],
    "rating": ["4", "9", "1,5", "99999999999", "four", "", "4.5"],
  ]

  @Test(.seeded, arguments: Randomness.seeds(4, long: 100))
  func `The details of random records are those of the report`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let columns = ["date", "rating", "location"].shuffled(using: &random)
    var text = columns.joined(separator: ",") + "\n"
    for _ in 0..<300 {
      var fields = columns.map { name -> String in
        let values = Self.values[name] ?? []
        return Bool.random(using: &random) ? values[0] : values.randomElement(using: &random) ?? ""
      }
      if Int.random(in: 0..<20, using: &random) == 0 { fields.removeLast() }
      if Int.random(in: 0..<20, using: &random) == 0 { fields.append("more") }
      text += fields.joined(separator: ",") + "\n"
    }
    try folder.write(text, to: "log.csv")
    let arguments = ["import", "log.csv", "--store", "s", "--report", "r.json", "--chunk-rows"]
    #expect(try Programs.run(Tool.url.path, arguments + [seed % 2 == 0 ? "7" : "5000"], in: folder).status == 65)
    let found = try details()
    #expect(found.map(Self.withoutReject) == (try reported("r.json")))
    let numbers = try found.map { try #require(Int($0.prefix { $0 != "|" })) }
    let count = try Tool.run("history", "s", "--json", in: folder).text.contains("\"rejected\" : \(numbers.last ?? 0)")
    #expect(count)
  }

  // MARK: Earlier versions

  /// What an earlier version wrote about the only reject of a log.
  private func writeOldDetails(to name: String, store: String) throws {
    let old = #"{"input":"log.csv","pipeline":"surf-log","rejects":1,"run":"old","store":"\#(folder.path(store))"}"#
    let issue =
      #"{"byte":39,"code":"type-error","column":"date","field":1,"input":"log.csv","line":2,"message":"is not a date","#
      + #""record":1,"reject":1,"run":"old","severity":"error","value":"soon"}"#
    try folder.write(old + "\n" + issue + "\n", to: name)
  }

  @Test func `Rejects of an earlier version are replayed`() throws {
    try folder.write(Logs.header + "2014-07-14,3ft,,,B,4\n", to: "log.csv.rejects.csv")
    try writeOldDetails(to: "log.csv.rejects.csv.jsonl", store: "s")
    #expect(try details() == ["1|1|2|39|type-error|date|1|soon|is not a date"])
    #expect(try Tool.run("replay", "log.csv.rejects.csv", in: folder).status == 0)
    #expect(try Programs.sqlite("s", "SELECT ZLOCATION FROM ZJOURNALENTRY", in: folder) == "B\n")
  }

  @Test func `A run of an earlier version is continued, and its details say where the layout changes`() throws {
    try folder.write(Logs.header + "soon,3ft,,,B,4\n2014-07-15,3ft,,,C,4\nlater,3ft,,,D,9\n", to: "log.csv")
    let arguments = ["import", "log.csv", "--store", "s", "--chunk-rows", "2"]
    #expect(try Programs.run(Tool.url.path, arguments + ["--max-errors", "1"], in: folder).status == 65)
    let part = "log.csv.rejects.csv.jsonl.part"
    let new = try folder.data(part)
    try writeOldDetails(to: part, store: "s")
    // The ledger has the length of the file.
    _ = try Programs.sqlite(
      "s",
      "UPDATE SJ_INPUT SET rejectsDetailBytes = \(try folder.data(part).count) WHERE rejectsDetailBytes = \(new.count)",
      in: folder)
    #expect(try Programs.run(Tool.url.path, arguments, in: folder).status == 65)
    let found = try details()
    #expect(found.count == 3)
    #expect(found[0] == "1|1|2|39|type-error|date|1|soon|is not a date")
    #expect(found[1].hasPrefix("2|3|4|76|type-error|date|1|later|") && found[2].hasPrefix("2|3|4|76|constraint-error|"))
    #expect(try folder.text("log.csv.rejects.csv.jsonl").contains(#""rejects":2"#))
  }
}
