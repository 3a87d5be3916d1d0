import Foundation
import TestSupport
import Testing

/// Objects that can belong to one entry only, and what the model says of objects that an import creates.
@Suite(.seeded) struct LinkedOwnerTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.makeFolder("Crew.xcdatamodel")
    try folder.write(Self.model, to: "Crew.xcdatamodel/contents")
  }

  private static let model = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Rider">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="locker" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Locker" inverseName="rider" inverseEntity="Locker"/>
        <relationship name="keys" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Key" inverseName="rider" inverseEntity="Key"/>
      </entity>
      <entity name="Locker">
        <attribute name="colour" optional="YES" attributeType="String" defaultValueString="grey"/>
        <attribute name="floor" optional="YES" attributeType="Integer 16" defaultValueString="3"/>
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <attribute name="serial" optional="YES" attributeType="String"/>
        <relationship name="rider" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Rider" inverseName="locker" inverseEntity="Rider"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="serial"/></uniquenessConstraint></uniquenessConstraints>
      </entity>
      <entity name="Key">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="rider" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Rider" inverseName="keys" inverseEntity="Rider"/>
      </entity>
    </model>
    """

  private func writePipeline(chunkRows: Int = 5000) throws {
    try folder.write(
      """
      { "name": "riders", "model": "Crew.xcdatamodel", "entity": "Rider", "store": "s.sqlite", "chunkRows": \(chunkRows),
        "key": "name", "duplicates": "update", "missingColumns": "ignore",
        "columns": ["name", { "name": "locker", "attribute": "locker.number", "link": { "ifMissing": "create" } },
          { "name": "colour", "attribute": "locker.colour" }, { "name": "serial", "attribute": "locker.serial" },
          { "name": "keys", "attribute": "keys.name", "link": { "ifMissing": "create", "separator": "/" } }] }
      """, to: "p.json")
  }

  private func importing(_ file: String, _ text: String? = nil) throws -> ProgramOutput {
    if let text { try folder.write(text, to: file) }
    return try Tool.run("import", file, "--pipeline", "p.json", "--json", in: folder)
  }

  private func rows(_ query: String) throws -> String { try Programs.sqlite("s.sqlite", query, in: folder) }

  /// Writes three files, and prints which records of them are rejected and who has what in the end.
  private static let play = """
    import csv, random
    random.seed(\(Randomness.seed))
    locker, keys, riders = {}, {}, []
    for name in ["a.csv", "b.csv", "c.csv"]:
        rejected = []
        with open(name, "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["name", "locker", "keys"])
            for number, rider in enumerate(random.sample([f"R{n}" for n in range(14)], 10), 1):
                wanted = random.choice(["", *map(str, range(1, 9))])
                names = random.sample(["k1", "k2", "k3", "k4", "k5", "k6"], random.choice([0, 0, 1, 2]))
                out.writerow([rider, wanted, "/".join(names)])
                if locker.get(wanted, rider) != rider or any(keys.get(key, rider) != rider for key in names):
                    rejected.append(number)
                    continue
                riders += [rider] if rider not in riders else []
                locker = {l: r for l, r in locker.items() if r != rider}
                keys = {k: r for k, r in keys.items() if r != rider}
                if wanted: locker[wanted] = rider
                for key in names: keys[key] = rider
        print(name, rejected)
    for rider in sorted(riders):
        print(rider, [l for l in locker if locker[l] == rider], sorted(k for k in keys if keys[k] == rider))
    """

  @Test(arguments: [1, 3, 5000])
  func `A record takes no object from another entry, and one that an entry gives up can be taken`(
    _ chunkRows: Int
  ) throws {
    let expected = try Programs.python(Self.play, in: folder)
    try writePipeline(chunkRows: chunkRows)
    var lines = ""
    for name in ["a.csv", "b.csv", "c.csv"] {
      let dry = try Tool.run("validate", name, "--pipeline", "p.json", "--json", in: folder)
      let output = try importing(name)
      let summary = try output.json()
      #expect(try dry.json().counts == summary.counts)
      #expect(summary.issues.counts.keys.allSatisfy { $0 == "taken-object" }, "\(output.text)")
      lines += "\(name) [\(summary.issues.listed.map { "\($0.record)" }.joined(separator: ", "))]\n"
    }
    let state = try Programs.python(
      """
      import sqlite3
      base = sqlite3.connect("s.sqlite")
      for key, rider in base.execute("SELECT Z_PK, ZNAME FROM ZRIDER ORDER BY 2").fetchall():
          print(rider, [str(r[0]) for r in base.execute("SELECT ZNUMBER FROM ZLOCKER WHERE ZRIDER = ?", (key,))],
                sorted(r[0] for r in base.execute("SELECT ZNAME FROM ZKEY WHERE ZRIDER = ?", (key,))))
      """, in: folder)
    #expect(lines + state == expected)
    #expect(try Tool.run("verify", "s.sqlite", "--model", "Crew.xcdatamodel", in: folder).status == 0)
  }

  @Test func `The message names the entry that has the object`() throws {
    try writePipeline()
    let output = try importing("a.csv", "name,locker\nAnn,1\nBob,1\n")
    let issue = try #require(try output.json().issues.listed.first)
    #expect(issue.code == "taken-object" && issue.line == 3)
    #expect(issue.message.contains("the Locker with number 1 belongs to the entry of record 1"), "\(issue.message)")
    let second = try importing("b.csv", "name,locker\nBob,1\n")
    #expect(try second.json().issues.listed.first?.message.contains("belongs to Rider p1") == true)
    // As the message advises.
    #expect(try importing("c.csv", "name,locker\nAnn,\nBob,1\n").status == 0)
    #expect(try rows("SELECT ZNAME FROM ZRIDER r JOIN ZLOCKER l ON l.ZRIDER = r.Z_PK") == "Bob\n")
  }

  @Test(arguments: [1, 5000])
  func `A created object has the model's defaults where its record is empty`(_ chunkRows: Int) throws {
    try writePipeline(chunkRows: chunkRows)
    let output = try importing("a.csv", "name,locker,colour\nAnn,1,\nBob,2,red\nCid,3,grey\n")
    #expect(output.status == 0, "\(output.text)")
    #expect(
      try rows("SELECT ZNUMBER, ZCOLOUR, ZFLOOR, ZSERIAL FROM ZLOCKER ORDER BY 1")
        == "1|grey|3|\n2|red|3|\n3|grey|3|\n")
  }

  @Test(arguments: [1, 5000])
  func `An object that a constraint refuses rejects the records that would make it, with the reason`(
    _ chunkRows: Int
  ) throws {
    try writePipeline(chunkRows: chunkRows)
    let text = "name,locker,serial\nAnn,1,x\nBob,2,x\nCid,3,y\nDan,2,\nEve,4,x\n"
    try folder.write(text, to: "a.csv")
    let dry = try Tool.run("validate", "a.csv", "--pipeline", "p.json", "--json", in: folder)
    let output = try importing("a.csv")
    #expect(output.status == 65)
    let listed = try output.json().issues.listed
    #expect(listed.map(\.record) == [2, 5] && listed.allSatisfy { $0.code == "store-constraint" }, "\(output.text)")
    #expect(listed.allSatisfy { $0.message.contains("serial") }, "\(listed)")
    #expect(try dry.json().counts == output.json().counts)
    #expect(
      try rows("SELECT ZNUMBER, ZSERIAL, r.ZNAME FROM ZLOCKER l JOIN ZRIDER r ON r.Z_PK = l.ZRIDER ORDER BY 1")
        == "1|x|Ann\n2||Dan\n3|y|Cid\n")
  }

  /// To many objects without an inverse: a key of the object, which can have one owner.
  private static let quiver = """
    <entity name="Quiver">
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="boards" optional="YES" toMany="YES" ORDER deletionRule="Nullify" destinationEntity="Board"/>
    </entity>
    <entity name="Board">
      <attribute name="name" optional="YES" attributeType="String"/>
    </entity>
    """

  @Test(arguments: [1, 5000], ["", "ordered=\"YES\""])
  func `A relationship to many without an inverse takes no object from another entry`(
    _ chunkRows: Int, order: String
  ) throws {
    try LateModel.write(
      "Quiver.xcdatamodel", entities: Self.quiver.replacingOccurrences(of: "ORDER", with: order), to: folder)
    try folder.write(
      """
      { "name": "quivers", "model": "Quiver.xcdatamodel", "entity": "Quiver", "store": "s.sqlite",
        "chunkRows": \(chunkRows), "key": "name", "duplicates": "update", "columns": ["name",
          { "name": "boards", "attribute": "boards.name", "link": { "ifMissing": "create", "separator": "/" } }] }
      """, to: "p.json")
    let owners = "SELECT b.ZNAME, q.ZNAME FROM ZBOARD b LEFT JOIN ZQUIVER q ON q.Z_PK = b.Z4BOARDS ORDER BY 1"
    for (text, rejected, state) in [
      ("Ann,x/y/x\nBob,z/y\nCid,\n", [2], "x|Ann\ny|Ann\n"),
      ("Dan,y\nEve,z\nFay,x/w\n", [1, 3], "x|Ann\ny|Ann\nz|Eve\n"),
      ("Ann,x\nDan,y\n", [], "x|Ann\ny|Dan\nz|Eve\n"),
    ] {
      try folder.write("name,boards\n" + text, to: "a.csv")
      let dry = try Tool.run("validate", "a.csv", "--pipeline", "p.json", "--json", in: folder)
      let output = try importing("a.csv")
      let summary = try output.json()
      #expect(try dry.json().counts == summary.counts)
      #expect(summary.issues.listed.map(\.record) == rejected, "\(output.text)")
      #expect(summary.issues.counts.keys.allSatisfy { $0 == "taken-object" })
      #expect(try rows(owners) == state)
    }
  }
}
