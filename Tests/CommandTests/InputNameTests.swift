import Foundation
import TestSupport
import Testing

/// What the name of an input says about its form, where nothing else does.
@Suite struct InputNameTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private static let tabs = "date\tlocation\trating\n2014-07-14\tRincon, far\t4\n2014-07-15\tMalibu\tmany\n"

  private func rows() throws -> String {
    try Programs.sqlite("s", "SELECT ZLOCATION, ZRATING FROM ZJOURNALENTRY ORDER BY Z_PK", in: folder)
  }

  @Test(arguments: ["a.tsv", "a.tab", "A.TSV"])
  func `The ending of values with tabs is read with tabs by every command, and so are the rejects`(_ name: String)
    throws
  {
    try folder.write(Self.tabs, to: name)
    let quiet = ["--missing-columns", "ignore", "-q"]
    let output = try Programs.run(Tool.url.path, ["import", name, "--store", "s"] + quiet, in: folder)
    #expect(output.status == 65 && output.text.contains("rating \"many\""), "\(output.messages)")
    #expect(try rows() == "Rincon, far|4\n")
    let rejects = "\(name).rejects.csv"
    #expect(try folder.text(rejects) == "date\tlocation\trating\n2014-07-15\tMalibu\tmany\n")
    try folder.write("date\tlocation\trating\n2014-07-15\tMalibu\t2\n", to: rejects)
    let replay = try Tool.run("replay", rejects, "-q", in: folder)
    #expect(replay.status == 0, "\(replay.messages)")
    #expect(try rows() == "Rincon, far|4\nMalibu|2\n")
    try folder.write("date,location,rating\n2014-07-14,\"Rincon, far\",4\n2014-07-15,Malibu,2\n", to: "b.csv")
    try folder.write(Self.tabs.replacingOccurrences(of: "many", with: "2"), to: name)
    let diff = try Tool.run(
      "diff", "b.csv", name, "--exit-code", "--key", "date", "--missing-columns", "ignore", in: folder)
    #expect(diff.status == 0, "\(diff.messages)\(diff.text)")
    #expect(try Tool.run("preview", name, in: folder).text.contains("Rincon, far"))
    #expect(try Tool.run("validate", name, "--missing-columns", "ignore", in: folder).status == 0)
  }

  @Test func `A declared delimiter, and a header without tabs, stay as they are`() throws {
    try folder.write("date,location,a\tb\n2014-07-14,x,1\n", to: "a.tsv")
    let declared = try Tool.run(
      "import", "a.tsv", "--store", "s", "--delimiter", ",", "--extra-columns", "ignore", "-q", in: folder)
    #expect(declared.status == 0, "\(declared.messages)")
    try folder.write("date,location,rating\n2014-07-15,\"y\t\",1\n", to: "b.tsv")
    #expect(try Tool.run("import", "b.tsv", "--store", "s", "-q", in: folder).status == 0)
    #expect(try rows() == "x|\ny\t|1\n")
    try folder.write("date;location\n2014-07-15;y\n", to: "c.tsv")
    let guess = try Tool.run("import", "c.tsv", "--store", "s", "-q", in: folder)
    #expect(guess.status == 65 && guess.messages.contains("surfjournal guess c.tsv"), "\(guess.messages)")
  }

  @Test func `Title rows, other encodings and compressions do not hide the tabs`() throws {
    let wide = Data([0xFF, 0xFE]) + (("Title\n" + Self.tabs).data(using: .utf16LittleEndian) ?? Data())
    try wide.write(to: folder.file("a.tsv"))
    let output = try Tool.run(
      "validate", "a.tsv", "--skip-rows", "1", "--missing-columns", "ignore", "--json", in: folder)
    #expect(try output.json().counts.inserted == 1, "\(output.messages)")
    try folder.write(Self.tabs, to: "b.tsv")
    _ = try Programs.output(of: ["gzip", "b.tsv"], in: folder)
    let gzip = try Tool.run("validate", "b.tsv.gz", "--missing-columns", "ignore", "--json", in: folder)
    #expect(try gzip.json().counts.inserted == 1, "\(gzip.messages)")
  }

  @Test(arguments: [#""inbox": {"folder": "in", "settleSeconds": 0}"#, #""source": "in/*.csv""#])
  func `A name that is not UTF-8 is an input that can't be read, and the others are imported`(_ inputs: String) throws {
    try folder.makeFolder("in")
    try folder.write("date,location,rating\n2014-07-14,Rincon,4\n", to: "in/a.csv")
    _ = try Tool.shell(#"cp in/a.csv "in/$(printf 'M\374ller.csv')""#, in: folder)
    try folder.write(
      #"{"extends": "surf-log", "name": "p", "store": "s", "missingColumns": "ignore", \#(inputs)}"#, to: "p.json")
    let output = try Tool.run("run", "p.json", in: folder)
    #expect(output.status == 66, "\(output.messages)\(output.text)")
    #expect(output.text.contains("ller.csv can't be read: its name is not UTF-8; rename the file"), "\(output.text)")
    #expect(output.text.contains(#"M\xFCller.csv"#) || inputs.contains("source"), "\(output.text)")
    #expect(try rows() == "Rincon|4\n")
  }

  @Test func `Line ends are mixed without a word, and listed by a lenient dialect`() throws {
    let text = "date,location\r\n2014-07-14,a\n2014-07-15,b\r\n2014-07-16,\"c\nd\"\r2014-07-17,e"
    try folder.write(text, to: "a.csv")
    let arguments = ["validate", "a.csv", "--missing-columns", "ignore", "--json"]
    let strict = try Programs.run(Tool.url.path, arguments, in: folder)
    #expect(try strict.json().counts.inserted == 4 && strict.json().issues.counts.isEmpty)
    let lenient = try Programs.run(Tool.url.path, arguments + ["--lenient"], in: folder)
    #expect(lenient.status == 0)
    let issues = try lenient.json().issues
    #expect(issues.counts == ["mixed-line-end": 2] && issues.listed.map(\.line) == [2, 4], "\(lenient.text)")
    #expect(try lenient.json().counts.inserted == 4)
  }
}
