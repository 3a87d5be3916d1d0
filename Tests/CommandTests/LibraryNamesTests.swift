import Foundation
import TestSupport
import Testing

/// Messages of commands speak of the command's options, never of the library's constants and types.
@Suite struct LibraryNamesTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.write(Logs.two, to: "log.csv")
    let made = try Tool.run("import", "log.csv", "--store", "journal.sqlite", in: folder)
    try #require(made.status == 0, "\(made.messages)")
    for (name, more) in [
      ("New", "<attribute name=\"wind\" optional=\"YES\" attributeType=\"Float\"/>"), ("Bad", "<attribute name=\"\"/>"),
      ("Old", ""), ("Derived", Self.derived),
    ] {
      try folder.makeFolder("\(name).xcdatamodel")
      try folder.write(
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <model><entity name="Surfer"><attribute name="name" optional="YES" attributeType="String"/>\(more)</entity></model>
        """, to: "\(name).xcdatamodel/contents")
    }
    try folder.write("name\nAnn\n", to: "a.csv")
    let club = try Tool.run(
      "import", "a.csv", "--entity", "Surfer", "--model", "Old.xcdatamodel", "--store", "club.sqlite", in: folder)
    try #require(club.status == 0, "\(club.messages)")
  }

  private static let derived =
    "<attribute name=\"seen\" optional=\"YES\" attributeType=\"Date\" derived=\"YES\" derivationExpression=\"now()\"/>"

  /// Names of the library: `NSReadOnlyPersistentStoreOption`, `OCDSourceModelsOption`, `NSManagedObject`.
  static func names(in text: String) -> [Substring] {
    text.split { !($0.isLetter || $0.isNumber || $0 == "_") }
      .filter { $0.wholeMatch(of: /_?(NS|OCD)[A-Z][a-z]+([A-Z0-9][A-Za-z0-9]*)?/) != nil }
  }

  @Test func `The test finds such names`() {
    let text = "Set NSInferMappingModelAutomaticallyOption (or OCDSourceModelsOption); see NSError, not NSA or INSERT."
    #expect(
      Self.names(in: text) == ["NSInferMappingModelAutomaticallyOption", "OCDSourceModelsOption", "NSError"])
  }

  private static let history = """
    CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY); INSERT INTO ATRANSACTION VALUES (1)
    """
  private static let trigger = """
    CREATE TRIGGER t AFTER INSERT ON ZSURFER BEGIN SELECT NSCoreDataUnknownFunction(NEW.Z_PK); END
    """

  /// Commands that fail, and what is done to the store before.
  private static let failing: [(words: String, sql: String?)] = [
    ("import a.csv --entity Surfer --model New.xcdatamodel --store club.sqlite --again", nil),
    ("export --entity Surfer --model New.xcdatamodel --store club.sqlite", nil),
    ("export --entity Surfer --model Bad.xcdatamodel --store club.sqlite", nil),
    ("export --entity Surfer --model none.xcdatamodel --store club.sqlite", nil),
    ("export --entity Surfer --store club.sqlite", nil), ("list --store club.sqlite", nil),
    ("add --store club.sqlite --date 2014-07-14 -y", nil), ("show 99 --store journal.sqlite", nil),
    ("edit 1 --store journal.sqlite -y --rating 99999999", nil),
    ("list --store journal.sqlite --where 'rating ==='", nil), ("list --store journal.sqlite --sort nothing", nil),
    ("list --store log.csv", nil), ("inspect log.csv", nil), ("verify .", nil),
    ("import a.csv --entity Surfer --model Derived.xcdatamodel --store new.sqlite", nil),
    ("import a.csv --entity Surfer --model Old.xcdatamodel --store club.sqlite --again", history),
    (
      "import a.csv --entity Surfer --model Old.xcdatamodel --store club.sqlite --again",
      "UPDATE Z_METADATA SET Z_PLIST = NULL"
    ),
    ("verify club.sqlite --model New.xcdatamodel", "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Rider'"),
    ("export --entity Surfer --model Old.xcdatamodel --store club.sqlite", "DROP TABLE ZSURFER"),
    ("import a.csv --entity Surfer --model Old.xcdatamodel --store club.sqlite --again", trigger),
    ("import log.csv --store journal.sqlite --again; false", nil),
  ]

  @Test(arguments: failing.indices)
  func `A command that fails names none`(_ index: Int) throws {
    let (words, sql) = Self.failing[index]
    if let sql { _ = try Programs.sqlite("club.sqlite", sql, in: folder) }
    let output = try Tool.shell("\"$surfjournal\" \(words)", in: folder)
    #expect(output.status != 0, "\(words)")
    #expect(Self.names(in: output.text + output.messages) == (sql == Self.trigger ? ["NSCoreDataUnknownFunction"] : []))
  }
}
