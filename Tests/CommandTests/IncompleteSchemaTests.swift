import TestSupport
import Testing

/// Models whose triggers or R-tree indexes Apple's framework makes in a way that is not known here.
@Suite struct IncompleteSchemaTests {
  @Test func `A new store of such a model is refused, and its advice makes one`() throws {
    let folder = try TemporaryFolder()
    try folder.makeFolder("Club.xcdatamodel")
    try folder.write(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <model>
        <entity name="Surfer">
          <attribute name="name" optional="YES" attributeType="String"/>
          <attribute name="seen" optional="YES" attributeType="Date" derived="YES" derivationExpression="now()"/>
        </entity>
      </model>
      """, to: "Club.xcdatamodel/contents")
    try folder.write("name\nAnn\n", to: "a.csv")
    let words = ["import", "a.csv", "--entity", "Surfer", "--model", "Club.xcdatamodel", "--store", "s.sqlite"]
    let refused = try Programs.run(Tool.url.path, words, in: folder)
    #expect(refused.status == 65, "\(refused.status) \(refused.messages)")
    #expect((refused.text + refused.messages).contains("add --incomplete-schema"), "\(refused.text)\(refused.messages)")
    #expect(!folder.exists("s.sqlite"))
    let made = try Programs.run(Tool.url.path, words + ["--incomplete-schema"], in: folder)
    #expect(made.status == 0, "\(made.text)\(made.messages)")
    // Existing stores need no such option.
    try folder.write("name\nBob\n", to: "a.csv")
    #expect(try Programs.run(Tool.url.path, words + ["--replace"], in: folder).status == 0)
    #expect(try Programs.sqlite("s.sqlite", "SELECT count(*) FROM ZSURFER", in: folder) == "1\n")
  }
}
