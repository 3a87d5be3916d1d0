import Foundation
import TestSupport
import Testing

/// `preview` and `diff` of an entity that is not the journal's, with an attribute of each type.
@Suite struct ComparedTypesTests {
  private let folder: TemporaryFolder

  private static let attributes = [
    ("amount", "Decimal"), ("big", "Integer 64"), ("bytes", "Binary"), ("flag", "Boolean"), ("id", "UUID"),
    ("link", "URI"), ("name", "String"), ("ratio", "Double"), ("small", "Float"), ("time", "Date"),
  ]
  private static let header = attributes.map(\.0).joined(separator: ",") + "\n"
  private static let id = "0B3F3C61-7E3F-4E0E-9B0F-0123456789AB"
  private static let old =
    header + "1.10,9007199254740993,aGVsbG8=,true,\(id),https://a.example/,one,0.1,0.1,2014-07-14T07:30:00.25Z\n"
  private static let new =
    header
    + "1.1,9007199254740992,aGVsbG8h,false,\(id.lowercased()),https://b.example/,,1e-7,0.2,2014-07-14T07:30:00.5Z\n"

  init() throws {
    folder = try TemporaryFolder()
    let lines = Self.attributes.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"\($1)\"/>" }
    try folder.makeFolder("M.xcdatamodel")
    try folder.write(
      """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Thing">\(lines.joined())</entity>
      </model>
      """, to: "M.xcdatamodel/contents")
    try folder.write(Self.old, to: "a.csv")
    try folder.write(Self.new, to: "b.csv")
  }

  private static let thing = ["--entity", "Thing", "--model", "M.xcdatamodel"]

  private func run(_ arguments: [String]) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, arguments + Self.thing, in: folder)
  }

  @Test func `A change of each type is found and shown exactly, from a file and from a store`() throws {
    let imported = try run(["import", "a.csv", "--store", "s", "-q"])
    #expect(imported.status == 0, "\(imported.messages)")
    for old in [["a.csv", "b.csv"], ["b.csv", "--store", "s"]] {
      let output = try run(["diff", "--key", "id"] + old)
      #expect(output.status == 0, "\(output.messages)")
      for line in [
        "big: 9007199254740993 → 9007199254740992", "bytes: aGVsbG8= → aGVsbG8h", "flag: 1 → 0",
        "link: https://a.example/ → https://b.example/", "name: one → (none)", "ratio: 0.1 → 1e-07",
        "small: 0.1 → 0.2", "time: 2014-07-14T07:30:00.25Z → 2014-07-14T07:30:00.5Z",
      ] {
        #expect(output.text.contains("    \(line)\n"), "\(line)\n\(output.text)")
      }
      // One number in two notations is not a change.
      #expect(!output.text.contains("amount:"))
      let object = try #require(try run(["diff", "--key", "id", "--json"] + old).text.split(separator: "\n").first)
      #expect(object.contains(#""big":9007199254740992"#) && object.contains(#""flag":false"#))
      #expect(object.contains(#""key":{"id":"\#(Self.id)"}"#), "\(object)")
    }
    #expect(try run(["diff", "a.csv", "--store", "s", "--exit-code"]).status == 0)
  }

  @Test func `A preview shows the range of numbers and dates, and the lengths of texts and bytes`() throws {
    try folder.write(Self.old + Self.new.split(separator: "\n")[1] + "\n", to: "c.csv")
    let output = try run(["preview", "c.csv"])
    #expect(output.status == 0, "\(output.messages)")
    for line in [
      "least, most    9007199254740992, 9007199254740993", "longest        6 bytes", "least, most    1e-07, 0.1",
      "first, last    2014-07-14T07:30:00.25Z, 2014-07-14T07:30:00.5Z", "least, most    1.1, 1.1",
      "filled         50 % (1 of 2)",
    ] {
      #expect(output.text.contains("    \(line)\n"), "\(line)\n\(output.text)")
    }
  }

  @Test func `A wide file is shown in tables of 80 columns, in bounded time and memory`() throws {
    let names = (0..<400).map { "a\($0)" }
    try folder.write(
      """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="Thing">
      \(names.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>" }.joined())</entity></model>
      """, to: "M.xcdatamodel/contents")
    let rows = (0..<600).map { row in names.map { "\($0) \(row)" }.joined(separator: ",") + "\n" }
    try folder.write(names.joined(separator: ",") + "\n" + rows.joined(), to: "wide.csv")
    let output = try run(["preview", "wide.csv"])
    #expect(output.status == 0, "\(output.messages)")
    // 200,000 values of all columns together are 500 of each.
    #expect(output.text.components(separatedBy: "different      more than 500\n").count == 401)
    #expect(output.text.split(separator: "\n").filter { $0.count > 80 } == [])
    #expect(try run(["diff", "wide.csv", "wide.csv", "--exit-code", "--key", "a7"]).status == 0)
  }
}
