import Foundation
import TestSupport
import Testing

/// Transformers belong to the app: the command has none of them, and works with the stored archives.
@Suite struct UnregisteredTransformerTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.makeFolder("Club.xcdatamodel")
    try folder.write(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <model userDefinedModelVersionIdentifier="">
        <entity name="Surfer" representedClassName="Surfer">
          <attribute name="name" optional="YES" attributeType="String"/>
          <attribute name="badge" optional="YES" attributeType="Transformable" valueTransformerName="BadgeTransformer"/>
          <uniquenessConstraints>
            <uniquenessConstraint><constraint value="name"/></uniquenessConstraint>
          </uniquenessConstraints>
        </entity>
      </model>
      """, to: "Club.xcdatamodel/contents")
  }

  private func importing(_ file: String) throws -> ProgramOutput {
    try Tool.run(
      "import", file, "--entity", "Surfer", "--model", "Club.xcdatamodel", "--store", "s.sqlite", in: folder)
  }

  @Test func `Equal values of a unique key are reported, and no lock is left`() throws {
    try folder.write("name,badge\nAnn,YmFkZ2U=\nAnn,YmFkZ2U=\nBob,\n", to: "a.csv")
    let output = try importing("a.csv")
    #expect([0, 65].contains(output.status), "\(output.status) \(output.messages)")
    #expect(try folder.names.filter { $0.contains("lock") } == [])
    let again = try importing("a.csv")
    #expect([0, 65].contains(again.status), "\(again.status) \(again.messages)")
    try folder.write("name,badge\nAnn,b3RoZXI=\nCid,YmFkZ2U=\n", to: "b.csv")
    let other = try importing("b.csv")
    #expect([0, 65].contains(other.status), "\(other.status) \(other.messages)")
    #expect(try Tool.run("verify", "s.sqlite", "--model", "Club.xcdatamodel", in: folder).status == 0)
  }

  @Test func `The archive is exported and imported as it is`() throws {
    try folder.write("badge,name\nYmFkZ2U=,Ann\n", to: "a.csv")
    #expect(try importing("a.csv").status == 0)
    let output = try Tool.run(
      "export", "--store", "s.sqlite", "--entity", "Surfer", "--model", "Club.xcdatamodel", "--output", "-", in: folder)
    #expect(output.text == "badge,name\nYmFkZ2U=,Ann\n", "\(output.text)\(output.messages)")
    #expect(try Programs.sqlite("s.sqlite", "SELECT CAST(ZBADGE AS TEXT) FROM ZSURFER", in: folder) == "badge\n")
  }
}
