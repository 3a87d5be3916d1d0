import Foundation
import TestSupport
import Testing

/// What is left of a store can be exported where that is asked for: values whose files are missing, and stores whose
/// metadata are unreadable. Without being asked, both are errors whose advice works.
@Suite struct DamagedExportTests {
  private let folder: TemporaryFolder
  private static let file = "0B6B3C5E-6C2A-4A51-9B1D-3C1B5E6F7A80"
  private static let inside = ".club_SUPPORT/_EXTERNAL_DATA"

  init() throws {
    folder = try TemporaryFolder()
    try folder.makeFolder("Club.xcdatamodeld/Club.xcdatamodel")
    try folder.makeFolder("Club.xcdatamodeld/Club 2.xcdatamodel")
    try folder.write(Self.model(""), to: "Club.xcdatamodeld/Club.xcdatamodel/contents")
    try folder.write(
      Self.model("<attribute name=\"age\" optional=\"YES\" attributeType=\"Integer 16\"/>"),
      to: "Club.xcdatamodeld/Club 2.xcdatamodel/contents")
    try folder.write(
      """
      <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>
      <key>_XCCurrentVersionName</key><string>Club 2.xcdatamodel</string></dict></plist>
      """, to: "Club.xcdatamodeld/.xccurrentversion")
    try folder.write("name,photo\nAnn,aGVsbG8=\nBob,\nCid,aGk=\n", to: "a.csv")
    let made = try Tool.run(
      "import", "a.csv", "--entity", "Surfer", "--model", "Club.xcdatamodeld/Club.xcdatamodel", "--store",
      "club.sqlite", in: folder)
    try #require(made.status == 0, "\(made.messages)")
    try folder.makeFolder(Self.inside)
  }

  private static func model(_ more: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <model userDefinedModelVersionIdentifier="">
      <entity name="Surfer">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
        \(more)
      </entity>
    </model>
    """
  }

  private func export(_ more: String..., model: String? = "Club.xcdatamodeld") throws -> ProgramOutput {
    let model = model.map { ["--model", $0] } ?? []
    return try Programs.run(
      Tool.url.path, ["export", "--store", "club.sqlite", "--entity", "Surfer", "--output", "-"] + model + more,
      in: folder)
  }

  /// Moves the photo of the first row to a file, as Apple's framework does.
  private func moveOutside() throws {
    let hex = Self.file.utf8.map { String($0, radix: 16) }.joined()
    _ = try Programs.sqlite("club.sqlite", "UPDATE ZSURFER SET ZPHOTO = x'02\(hex)00' WHERE Z_PK = 1", in: folder)
  }

  // MARK: Values whose files are missing

  @Test func `A missing file is an error, and its advice leaves the value out with row and file`() throws {
    try moveOutside()
    let refused = try export()
    #expect(refused.status == 66 && refused.text.isEmpty, "\(refused.status) \(refused.messages)")
    #expect(refused.messages.contains("add --missing-external=warn"), "\(refused.messages)")
    for (more, text) in [
      ([], "name,photo\nAnn,\nBob,\nCid,aGk=\n"), (["--where", "photo == nil"], "name,photo\nAnn,\nBob,\n"),
      (["--where", "photo != nil"], "name,photo\nCid,aGk=\n"),
    ] {
      let read = try Programs.run(
        Tool.url.path,
        [
          "export", "--store", "club.sqlite", "--entity", "Surfer", "--model", "Club.xcdatamodeld", "--output", "-",
          "--missing-external=warn",
        ] + more, in: folder)
      #expect(read.status == 0 && read.text == text, "\(read.text)\(read.messages)")
      for part in ["warning", "missing-external", "Surfer.photo", "row 1", "\(Self.inside)/\(Self.file)", "1 warning"] {
        #expect(read.messages.contains(part), "\(part): \(read.messages)")
      }
    }
    let wrong = try export("--missing-external=drop")
    #expect(wrong.status == 64 && wrong.messages.contains("refuse or warn"))
    try folder.write("hello", to: "\(Self.inside)/\(Self.file)")
    let whole = try export("--missing-external=warn", "-q")
    #expect(whole.text == "name,photo\nAnn,aGVsbG8=\nBob,\nCid,aGk=\n" && whole.messages.isEmpty)
  }

  @Test(arguments: ["../../secret", "/etc/hostname", "other", "nowhere"])
  func `A link in the folder is not followed, also where missing files are left out`(_ target: String) throws {
    try moveOutside()
    try folder.write("secret", to: "secret")
    try folder.write("other", to: "\(Self.inside)/other")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("\(Self.inside)/\(Self.file)"), withDestinationPath: target)
    for more in ["--missing-external=refuse", "--missing-external=warn"] {
      let output = try export(more)
      #expect(output.status == 65 && output.text.isEmpty, "\(output.status) \(output.text)")
      #expect(output.messages.contains("links are not followed"), "\(output.messages)")
    }
    let verified = try Tool.run("verify", "club.sqlite", "--model", "Club.xcdatamodeld", in: folder)
    #expect(verified.status == 65 && verified.text.contains("error largeValueLink"), "\(verified.text)")
  }

  // MARK: Stores without metadata

  private static let damages = [
    "UPDATE Z_METADATA SET Z_PLIST = x'00'", "UPDATE Z_METADATA SET Z_PLIST = NULL", "DELETE FROM Z_METADATA",
    "DROP TABLE Z_METADATA", "UPDATE Z_METADATA SET Z_PLIST = 'bplist00'",
  ]

  @Test(arguments: damages)
  func `A store without usable metadata is exported with the version whose tables it has`(_ sql: String) throws {
    _ = try Programs.sqlite("club.sqlite", sql, in: folder)
    let refused = try export()
    #expect(refused.status == 65 && refused.text.isEmpty, "\(refused.status) \(refused.messages)")
    #expect(refused.messages.contains("add --model MODEL --without-metadata"), "\(refused.messages)")
    let growing = try Tool.run(
      "export", "--store", "club.sqlite", "--entity", "Surfer", "--output", "a.out", "--incremental", in: folder)
    #expect(growing.status == 65, "\(growing.status) \(growing.messages)")
    #expect(growing.messages.contains("without --incremental: add --model MODEL --without-metadata"))
    let read = try export("--without-metadata")
    #expect(read.status == 0 && read.text == "name,photo\nAnn,aGVsbG8=\nBob,\nCid,aGk=\n", "\(read.messages)")
    // The current version has a column more, the first one not.
    #expect(read.messages.contains("The version 'Club' of the model"), "\(read.messages)")
  }

  @Test func `Tables that are not exactly the model's are refused, and so are usable metadata`() throws {
    let usable = try export("--without-metadata")
    #expect(usable.status == 64 && usable.messages.contains("leave --without-metadata out"), "\(usable.messages)")
    let nameless = try export("--without-metadata", model: nil)
    #expect(nameless.status == 64 && nameless.messages.contains("--model MODEL"), "\(nameless.messages)")
    let growing = try export("--without-metadata", "--incremental")
    #expect(growing.status == 64 && growing.messages.contains("--incremental"), "\(growing.messages)")
    let returning = try export("--missing-external=warn", "--incremental")
    #expect(returning.status == 64 && returning.messages.contains("leave --incremental or"), "\(returning.messages)")
    _ = try Programs.sqlite("club.sqlite", Self.damages[0], in: folder)
    for (sql, part) in [
      ("ALTER TABLE ZSURFER ADD COLUMN ZWEIGHT FLOAT", "has the column ZWEIGHT"),
      ("INSERT INTO Z_PRIMARYKEY VALUES (2, 'Board', 0, 0)", "has the entity 'Board'"),
      ("UPDATE Z_PRIMARYKEY SET Z_NAME = 'Rider'", "has the entity 'Rider'"),
    ] {
      try FileManager.default.copyItem(atPath: folder.path("club.sqlite"), toPath: folder.path("kept"))
      _ = try Programs.sqlite("club.sqlite", sql, in: folder)
      let output = try export("--without-metadata", model: "Club.xcdatamodeld/Club.xcdatamodel")
      #expect(output.status == 65 && output.messages.contains(part), "\(output.status) \(output.messages)")
      let several = try export("--without-metadata")
      #expect(several.messages.contains("none of the model's 2 versions fits"), "\(several.messages)")
      try FileManager.default.removeItem(atPath: folder.path("club.sqlite"))
      try FileManager.default.moveItem(atPath: folder.path("kept"), toPath: folder.path("club.sqlite"))
    }
  }
}
