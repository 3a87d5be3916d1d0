import Foundation
import TestSupport
import Testing

/// Exports that need less than all of a store: entities without attributes, values whose files were left behind.
@Suite struct BareExportTests {
  private let folder: TemporaryFolder
  private static let photo = "6D0A3E0C-98E5-4B61-8A4B-6D2D3C1F7A55"

  /// A device's session is identified only by what it leads to; a person's photo may be a file of its own.
  private static let model = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Marker"/>
      <entity name="Person">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
        <attribute name="seen" optional="YES" attributeType="Date"/>
        <relationship name="login" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Login" inverseName="person" inverseEntity="Login"/>
      </entity>
      <entity name="Login">
        <relationship name="person" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Person" inverseName="login" inverseEntity="Person"/>
      </entity>
    </model>
    """

  init() throws {
    folder = try TemporaryFolder()
    try folder.makeFolder("People.xcdatamodel")
    try folder.write(Self.model, to: "People.xcdatamodel/contents")
    try folder.write("name,seen\nAda,2024-05-06T07:08:09Z\nBea,2024-06-06T07:08:09Z\n", to: "people.csv")
    let made = try run("import", "people.csv", "--entity", "Person")
    try #require(made.status == 0, "\(made.messages)")
    _ = try sqlite(
      """
      INSERT INTO ZLOGIN (Z_PK, Z_ENT, Z_OPT, ZPERSON) SELECT 1, Z_ENT, 1, 2 FROM Z_PRIMARYKEY WHERE Z_NAME = 'Login';
      UPDATE ZPERSON SET ZPHOTO = CAST(x'02' || '\(Self.photo)' || x'00' AS BLOB), ZLOGIN = 1 WHERE Z_PK = 2;
      """)
  }

  private func run(_ arguments: String...) throws -> ProgramOutput {
    try Programs.run(
      Tool.url.path, arguments + ["--store", "people.sqlite", "--model", "People.xcdatamodel"], in: folder)
  }

  private func sqlite(_ sql: String) throws -> String { try Programs.sqlite("people.sqlite", sql, in: folder) }

  @Test(arguments: [
    ("Login", "Login has no attribute that is kept", "such as person.name"), ("Marker", "Marker has no attribute", ""),
  ])
  func `An entity without attributes is refused with the way out`(_ name: String, problem: String, way: String)
    throws
  {
    let output = try run("export", "--entity", name)
    #expect(output.status == 64 && output.text.isEmpty, "\(output.messages)")
    #expect(output.messages.contains(problem) && (way.isEmpty || output.messages.contains(way)), "\(output.messages)")
  }

  @Test func `An entity without attributes is exported by what it leads to`() throws {
    let output = try run("export", "--entity", "Login", "--columns", "person.name", "-q")
    #expect(output.status == 0 && output.text == "person.name\nBea\n", "\(output.text)\(output.messages)")
  }

  @Test func `A value whose file was left behind stops an export that writes it, as an input that is missing`() throws {
    let output = try run("export", "--entity", "Person")
    #expect(output.status == 66, "\(output.messages)")
    for word in ["Person.photo in row 2", Self.photo, ".people_SUPPORT"] {
      #expect(output.messages.contains(word), "\(output.messages)")
    }
    _ = try sqlite(
      "UPDATE ZPERSON SET ZPHOTO = CAST(x'02' || '\(Self.photo.lowercased().prefix(35))/' || x'00' AS BLOB)")
    let damaged = try run("export", "--entity", "Person")
    #expect(damaged.status == 65 && damaged.messages.contains("without a UUID"), "\(damaged.messages)")
  }

  @Test func `Other columns are exported without the file, also where they order or part the output`() throws {
    let plain = try run("export", "--entity", "Person", "--columns", "name", "-q")
    #expect(plain.text == "name\nAda\nBea\n", "\(plain.messages)")
    let sorted = try run(
      "export", "--entity", "Person", "--columns", "name", "--sort", "seen:desc", "--where", "seen != nil", "-q")
    #expect(sorted.text == "name\nBea\nAda\n", "\(sorted.messages)")
    let parted = try run(
      "export", "--entity", "Person", "--columns", "name", "--split-month", "seen", "-o", "{month}.csv", "-q")
    #expect(parted.status == 0, "\(parted.messages)")
    #expect(try folder.text("2024-05.csv") == "name\nAda\n" && folder.text("2024-06.csv") == "name\nBea\n")
  }
}
