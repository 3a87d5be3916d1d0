import Foundation
import TestSupport
import Testing

/// `surfjournal guess --entity`: tables of other entities than the journal's.
@Suite struct GuessEntityTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.makeFolder("models/Garage.xcdatamodel")
    try folder.write(Self.model, to: "models/Garage.xcdatamodel/contents")
  }

  private static let model = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Car">
        <attribute name="plate" attributeType="String"/>
        <attribute name="boughtOn" optional="YES" attributeType="Date"/>
        <attribute name="soldOn" optional="YES" attributeType="Date"/>
        <attribute name="price" optional="YES" attributeType="Decimal"/>
        <attribute name="length" optional="YES" attributeType="Double"/>
        <attribute name="seats" optional="YES" attributeType="Integer 16"/>
        <attribute name="electric" optional="YES" attributeType="Boolean"/>
        <attribute name="time" optional="YES" attributeType="String"/>
      </entity>
    </model>
    """

  private static let rows = (10...27).map { day in
    "B-X \(day);\(day).03.2019;;1.2\(day),50;4,\(day);\(day % 3 + 3);\(day % 2 == 0 ? "ja" : "nein");07:\(day);x\n"
  }

  private func run(_ arguments: String...) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, arguments, in: folder)
  }

  private func guess(_ text: String) throws -> ProgramOutput {
    try folder.write(text, to: "cars.csv")
    return try run(
      "guess", "cars.csv", "--entity", "Car", "--model", "models/Garage.xcdatamodel", "--store", "garage", "-o",
      "models/cars.json", "--force")
  }

  @Test func `A header that is repeated between records of texts is rejected and not stored`() throws {
    let rows = (10...27).map { "B-X \($0);at noon \($0)\n" }
    let output = try guess("plate;time\n" + rows.joined() + "plate;time\n" + rows.joined())
    #expect(output.status == 0, "\(output.text)\(output.messages)")
    #expect(output.text.contains("The header is repeated in 1 line"))
    let run = try run("run", "models/cars.json")
    #expect(run.status == 65 && run.text.contains("constraint-error"), "\(run.text)\(run.messages)")
    #expect(try Programs.sqlite("garage", "SELECT count(*), max(ZPLATE) FROM ZCAR", in: folder) == "36|B-X 27\n")
    // Without a text that only the header has, nothing can tell it from a record.
    let same = try guess("plate;time\n" + rows.joined() + "plate;time\nplate;x\ny;time\n" + rows.joined())
    #expect(same.status == 65 && same.messages.contains("repeated header"), "\(same.messages)")
  }

  @Test func `Columns that are labelled like attributes fill them, with what their types need`() throws {
    let header = "Plate;bought on;Sold On;PRICE;Length (m);seats;electric;time;Colour\n"
    let output = try guess(header + Self.rows.joined())
    #expect(output.status == 0, "\(output.text)\(output.messages)")
    let pipeline = try folder.text("models/cars.json")
    #expect(pipeline.contains("\"entity\": \"Car\""))
    #expect(pipeline.contains("\"trueValues\": [\"ja\"]"))
    let run = try run("run", "models/cars.json")
    #expect(run.status == 0, "\(run.text)\(run.messages)")
    let query =
      "SELECT ZPLATE, date(ZBOUGHTON + 978307200, 'unixepoch'), ZSOLDON, ZPRICE, ZLENGTH, ZSEATS, ZELECTRIC, ZTIME "
      + "FROM ZCAR ORDER BY Z_PK LIMIT 2"
    #expect(
      try Programs.sqlite("garage", query, in: folder)
        == "B-X 10|2019-03-10||1210.5|4.1|4|1|07:10\nB-X 11|2019-03-11||1211.5|4.11|5|0|07:11\n")
  }

  static let refused: [(header: String, message: String)] = [
    ("plate;bought on;sold on;car price;length;seats;electric;time;x", "the label is like price"),
    ("plate;bought on;sold on;seats;length;price;electric;time;x", "its values are of another kind"),
    ("licence;bought on;sold on;price;length;seats;electric;time;x", "no column is plate"),
    ("plate;bought on;sold on;price;length;seats;Plate;electric;x", "may both be plate"),
  ]

  @Test(arguments: refused)
  func `A label that is only like an attribute, and values of another type, are refused`(
    one: (header: String, message: String)
  ) throws {
    let output = try guess(one.header + "\n" + Self.rows.joined())
    #expect(output.status == 65, "\(output.text)")
    #expect(output.messages.contains(one.message), "\(output.messages)")
    #expect(!folder.exists("models/cars.json"))
  }

  @Test func `Words of which it is unknown which is true are refused`() throws {
    let rows = (10...27).map { "B-X \($0);\($0 % 2 == 0 ? "full" : "half")\n" }.joined()
    let output = try guess("plate;electric\n" + rows)
    #expect(output.status == 65, "\(output.text)")
  }

  @Test func `What is named and not there is reported, with what there is`() throws {
    try folder.write("plate\nx\n", to: "cars.csv")
    let noEntity = try run("guess", "cars.csv", "--entity", "Bike", "--model", "models/Garage.xcdatamodel")
    #expect(noEntity.status == 78)
    #expect(noEntity.messages.contains("the model has no entity 'Bike'; it has Car"))
    #expect(try run("guess", "cars.csv", "--entity", "Car", "--model", "none.xcdatamodel").status == 66)
    #expect(try run("guess", "cars.csv", "--model", "models/Garage.xcdatamodel").status == 64)
  }
}
