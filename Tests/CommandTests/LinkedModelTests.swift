import Foundation
import TestSupport
import Testing

/// Linked imports with what models can say about both ends: mandatory and ordered relationships, subentities, two
/// relationships to one entity, defaults and constraints.
@Suite struct LinkedModelTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.makeFolder("Garage.xcdatamodel")
    try folder.write(Self.model, to: "Garage.xcdatamodel/contents")
    try folder.write(Self.cars(), to: "cars.json")
  }

  private static let model = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Car">
        <attribute name="plate" attributeType="String"/>
        <attribute name="seats" optional="YES" attributeType="Integer 16"/>
        <relationship name="driver" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Person"/>
        <relationship name="owner" maxCount="1" deletionRule="Nullify" destinationEntity="Person" inverseName="cars" inverseEntity="Person"/>
        <relationship name="trips" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify" destinationEntity="Place" inverseName="cars" inverseEntity="Place"/>
      </entity>
      <entity name="Driver" parentEntity="Person"/>
      <entity name="Person">
        <attribute name="active" optional="YES" attributeType="Boolean" defaultValueString="YES"/>
        <attribute name="badge" optional="YES" attributeType="Integer 64"/>
        <attribute name="name" attributeType="String"/>
        <relationship name="cars" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify" destinationEntity="Car" inverseName="owner" inverseEntity="Car"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="badge"/></uniquenessConstraint></uniquenessConstraints>
      </entity>
      <entity name="Place">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="cars" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Car" inverseName="trips" inverseEntity="Car"/>
      </entity>
    </model>
    """

  private static func cars(chunkRows: Int = 5000, members: String = "") -> String {
    """
    {
      "name": "cars", "model": "Garage.xcdatamodel", "entity": "Car", "chunkRows": \(chunkRows), "store": "s.sqlite",
      "missingColumns": "ignore", \(members)
      "columns": [
        "plate", "seats",
        { "name": "owner", "attribute": "owner.name", "link": { "ifMissing": "create" } },
        { "name": "badge", "attribute": "owner.badge" },
        { "name": "driver", "attribute": "driver.name", "link": { "ifMissing": "create" } },
        { "name": "trips", "attribute": "trips.number", "link": { "ifMissing": "create", "separator": "/" } }
      ]
    }
    """
  }

  private func rows(_ query: String) throws -> String { try Programs.sqlite("s.sqlite", query, in: folder) }

  private func importing(_ text: String, as name: String = "a.csv", _ options: String...) throws -> ProgramOutput {
    try folder.write(text, to: name)
    return try Programs.run(
      Tool.url.path, ["import", name, "--pipeline", "cars.json", "--json"] + options, in: folder)
  }

  @Test(arguments: [1, 2, 5000])
  func `Two relationships to one entity find and create the same objects`(_ chunkRows: Int) throws {
    try folder.write(Self.cars(chunkRows: chunkRows), to: "cars.json")
    let output = try importing("plate,owner,driver\nA,Ann,Bob\nB,Bob,Ann\nC,,Bob\nD,Ann,Cid\nE,Ann,\n")
    #expect(output.status == 65)
    // The model demands an owner.
    let issue = try #require(try output.json().issues.listed.first)
    #expect(try output.json().issues.listed.count == 1 && issue.code == "model-error" && issue.line == 4)
    #expect(issue.column == "owner" && issue.message.contains("every Car needs its owner"))
    #expect(try LinkedCounts(output).links == "Person 3 7 0\n")
    #expect(try rows("SELECT Z_PK, ZNAME, ZACTIVE FROM ZPERSON ORDER BY 1") == "1|Ann|1\n2|Bob|1\n3|Cid|1\n")
    #expect(
      try rows("SELECT ZPLATE, ZOWNER, Z_FOK_OWNER, ZDRIVER FROM ZCAR ORDER BY Z_PK")
        == "A|1|1024|2\nB|2|1024|1\nD|1|2048|3\nE|1|3072|\n")
    #expect(try Tool.run("verify", "s.sqlite", "--model", "Garage.xcdatamodel", in: folder).status == 0)
  }

  @Test func `Objects of subentities are found, and lists get new rows at their ends`() throws {
    try folder.write("name\nAnn\n", to: "drivers.csv")
    let drivers = try Tool.run(
      "import", "drivers.csv", "--entity", "Driver", "--model", "Garage.xcdatamodel", "--store", "s.sqlite", in: folder)
    #expect(drivers.status == 0, "\(drivers.messages)")
    for name in ["a.csv", "b.csv"] {
      let output = try importing("plate,owner\n\(name)1,Ann\n\(name)2,Ann\n", as: name, "--again")
      #expect(output.status == 0, "\(output.messages)")
    }
    #expect(
      try rows("SELECT DISTINCT Z_NAME FROM ZCAR JOIN Z_PRIMARYKEY k ON k.Z_ENT = (SELECT Z_ENT FROM ZPERSON)")
        == "Driver\n")
    #expect(try rows("SELECT Z_FOK_OWNER FROM ZCAR ORDER BY Z_PK") == "1024\n2048\n3072\n4096\n")
    #expect(try rows("SELECT count(*), Z_OPT FROM ZPERSON") == "1|3\n")
    #expect(try Tool.run("verify", "s.sqlite", "--model", "Garage.xcdatamodel", in: folder).status == 0)
  }

  @Test func `A to-many relationship has its objects once, in the order of the field if it is ordered`() throws {
    let output = try importing("plate,owner,trips\nA,Ann,3/1/2/1\nB,Ann,\" 2 / 3\"\nC,Ann,x\nD,Ann,//\n")
    #expect(output.status == 65)
    #expect(try output.json().issues.counts == ["type-error": 1])
    #expect(try LinkedCounts(output).links == "Person 1 3 0\nPlace 3 5 0\n")
    let join = try rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'").dropLast()
    let named = try rows("SELECT name FROM pragma_table_info('\(join)')").split(separator: "\n")
    let order = try #require(named.first { $0.hasPrefix("Z_FOK") })
    let place = try #require(named.first { $0.hasSuffix("TRIPS") && !$0.hasPrefix("Z_FOK") })
    let car = try #require(named.first { $0.hasSuffix("CARS") })
    let list = """
      SELECT ZPLATE, group_concat(ZNUMBER) FROM (SELECT ZPLATE, ZNUMBER FROM \(join) JOIN ZPLACE p ON p.Z_PK = \(place)
        JOIN ZCAR c ON c.Z_PK = \(car) ORDER BY ZPLATE, \(order)) GROUP BY 1
      """
    #expect(try rows(list) == "A|3,1,2\nB|2,3\n")
    #expect(try Tool.run("verify", "s.sqlite", "--model", "Garage.xcdatamodel", in: folder).status == 0)
  }

  @Test func `An object that the store refuses rejects the records that name it, and the rest is saved`() throws {
    let output = try importing("plate,owner,badge\nA,Ann,7\nB,Bob,7\nC,Cid,8\nD,Bob,\n")
    #expect(output.status == 65, "\(output.text)")
    let summary = try output.json()
    #expect(summary.counts.inserted + summary.counts.rejected == 4 && summary.counts.isConserved)
    #expect(try rows("SELECT count(*) FROM ZPERSON WHERE ZBADGE = 7") == "1\n")
    #expect(try rows("SELECT count(*) FROM ZCAR WHERE ZOWNER IS NULL") == "0\n")
    #expect(try rows("SELECT group_concat(ZPLATE) FROM (SELECT ZPLATE FROM ZCAR ORDER BY 1)").hasPrefix("A,C"))
  }

  @Test(arguments: [1, 5000])
  func `A value that the store refuses for a changed object rejects the records that change it`(
    _ chunkRows: Int
  ) throws {
    let text = Self.cars(chunkRows: chunkRows).replacingOccurrences(
      of: #""owner.name", "link": { "ifMissing": "create" }"#,
      with: #""owner.name", "link": { "ifMissing": "create", "ifDifferent": "update" }"#)
    try folder.write(text, to: "cars.json")
    #expect(try importing("plate,owner,badge\nA,Ann,7\nB,Bob,8\n").status == 0)
    let output = try importing("plate,owner,badge\nC,Bob,7\nE,Ann,7\n", as: "b.csv")
    #expect(output.status == 65, "\(output.text)")
    let issues = try output.json().issues.listed
    #expect(issues.allSatisfy { $0.code == "store-constraint" } && !issues.isEmpty)
    #expect(issues.first?.message.contains("the record would change a Person") == true, "\(issues)")
    #expect(try output.json().counts.isConserved)
    #expect(try rows("SELECT count(DISTINCT ZBADGE), min(ZBADGE) FROM ZPERSON") == "2|7\n")
    #expect(try Tool.run("verify", "s.sqlite", "--model", "Garage.xcdatamodel", in: folder).status == 0)
  }

  @Test func `A record of JSON Lines without the member leaves the relationship, and null clears it`() throws {
    try folder.write(
      Self.cars(members: "\"key\": \"plate\", \"duplicates\": \"update\","), to: "cars.json")
    let lines = [
      "{\"plate\":\"A\",\"owner\":\"Ann\",\"driver\":\"Bob\"}",
      "{\"plate\":\"B\",\"owner\":\"Ann\",\"driver\":\"Bob\"}",
    ]
    #expect(try importing(lines.joined(separator: "\n"), as: "a.jsonl").status == 0)
    let output = try importing("{\"plate\":\"A\",\"seats\":4}\n{\"plate\":\"B\",\"driver\":null}\n", as: "b.jsonl")
    #expect(output.status == 0, "\(output.text)")
    #expect(try output.json().counts == Summary.Counts(read: 2, updated: 2))
    #expect(try rows("SELECT ZPLATE, ZSEATS, ZOWNER, ZDRIVER FROM ZCAR ORDER BY 1") == "A|4|1|2\nB||1|\n")
  }

  @Test func `An atomic run that stops leaves no created object`() throws {
    let output = try importing("plate,owner\nA,Ann\nB,Bob\n,Cid\n", as: "a.csv", "--atomic", "--max-errors", "0")
    #expect(output.status == 65)
    let tables = folder.exists("s.sqlite") ? try rows("SELECT count(*) FROM ZPERSON") : "0\n"
    #expect(tables == "0\n")
  }
}
