import Foundation
import TestSupport
import Testing

/// A run whose records lead to one another, some of them to nothing, that is killed before any call that changes a file,
/// and run again, ends as if nothing had happened.
@Suite(.serialized, .seeded) struct LateKillTests {
  static let points = TestLength.rounds(5, long: 200)

  private let folder: TemporaryFolder
  private let calls: FileCalls
  init() throws {
    folder = try TemporaryFolder()
    calls = try FileCalls()
    try folder.makeFolder("Tree.xcdatamodel")
    try folder.write(
      """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Category">
          <attribute name="name" optional="YES" attributeType="String"/>
          <relationship name="children" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Category" inverseName="parent" inverseEntity="Category"/>
          <relationship name="parent" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Category" inverseName="children" inverseEntity="Category"/>
        </entity>
      </model>
      """, to: "Tree.xcdatamodel/contents")
    try folder.write(
      """
      { "name": "tree", "model": "Tree.xcdatamodel", "entity": "Category", "store": "s", "chunkRows": 5,
        "source": "tree.csv", "columns": ["name", { "name": "parent", "attribute": "parent.name", "link": {} }] }
      """, to: "tree.json")
    let names = (0..<40).map { "c\($0)" }
    var random = Randomness.generator()
    let lines = names.map { "\($0),\((names + ["", "", "x", "y"]).randomElement(using: &random) ?? "")" }
    try folder.write("name,parent\n" + lines.joined(separator: "\n") + "\n", to: "tree.csv")
  }

  @Test func `Killed at any point and run again, the entries, links and rejects are the same`() throws {
    let command = ["run", "./tree.json", "--report", "r.json", "-q"]
    func outcome(_ body: () throws -> Void) throws -> [String] {
      let made = try folder.names.filter { $0.hasPrefix("s") || $0.hasPrefix("tree.csv.") || $0 == "r.json" }
      for name in made { try FileManager.default.removeItem(at: folder.file(name)) }
      try body()
      let names = try folder.names.filter { $0.hasPrefix("tree.csv.rejects") }
      return try [
        Programs.sqlite(
          "s",
          "PRAGMA integrity_check; SELECT * FROM ZCATEGORY ORDER BY 1; SELECT * FROM Z_PRIMARYKEY; "
            + "SELECT path, state, recordsRead, inserted, rejected FROM SJ_INPUT", in: folder),
        Programs.python("import json; r = json.load(open('r.json')); print(r['counts'], r['links'])", in: folder),
      ] + names.filter { $0.hasSuffix(".csv") }.map { try "\($0): \(folder.text($0))" }
    }
    let undisturbed = try outcome { () throws in
      let output = try calls.run(command, in: folder)
      #expect([0, 65].contains(output.status), "\(output.messages)")
    }
    let count = try #require(try calls.log.lastIndex { $0.contains("r.json") })
    try #require(count > 20)
    var random = Randomness.generator()
    var killed = 0
    for _ in 0..<Self.points {
      let point = Int.random(in: 1...count, using: &random)
      let found = try outcome {
        if try calls.run(command, in: folder, killedAt: point).status == 128 + SIGKILL { killed += 1 }
        expectNone(try Conservation.problems(in: folder).map { "killed before call \(point): \($0)" })
        #expect([0, 65].contains(try Programs.run(Tool.url.path, command, in: folder).status))
      }
      #expect(found == undisturbed, "killed before call \(point)")
      expectNone(try Conservation.problems(in: folder).map { "killed before call \(point), run again: \($0)" })
      #expect(try Tool.run("verify", "s", "--model", "Tree.xcdatamodel", in: folder).status == 0)
    }
    Figures.add("kills", killed, suite: Self.self)
  }
}
