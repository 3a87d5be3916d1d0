import Foundation
import TestSupport
import Testing

/// What the generator writes, and what it says of a model that it cannot read. It runs as the build runs it.
@Suite struct ModelgenTests {
  @Test func `Nothing is generated for Manual/None, only properties for Category/Extension`() throws {
    let output = try Modelgen.run(
      entities: """
        <entity name="A" representedClassName="A" codeGenerationType="class"/>
        <entity name="B" representedClassName="B" codeGenerationType="category"/>
        <entity name="C" representedClassName="C" codeGenerationType="none"/>
        <entity name="D" representedClassName="D"/>
        <entity name="E" representedClassName="NSManagedObject" codeGenerationType="class"/>
        """)
    #expect(
      output.files.keys.sorted() == [
        "A+CoreDataClass.swift", "A+CoreDataProperties.swift", "B+CoreDataProperties.swift",
        "Test+EmbeddedModel.swift",
      ])
  }

  @Test func `Relationships have accessors, and methods for their members`() throws {
    let output = try Modelgen.run(
      entities: """
        <entity name="A" representedClassName="A" codeGenerationType="class">
          <relationship name="owner" maxCount="1" destinationEntity="A"/>
          <relationship name="plain" maxCount="1" destinationEntity="B"/>
          <relationship name="tags" toMany="YES" destinationEntity="A"/>
          <relationship name="parts" toMany="YES" ordered="YES" destinationEntity="A"/>
        </entity>
        <entity name="B"/>
        """)
    let properties = try #require(output.files["A+CoreDataProperties.swift"])
    for declaration in [
      "public var owner: A? {\n    get { relatedObject(forKey: \"owner\") }\n",
      "    set { setRelatedObject(newValue, forKey: \"owner\") }\n  }",
      "public var plain: NSManagedObject? {\n    get { relatedObject(forKey: \"plain\") }\n",
      "public var tags: NSSet? {\n    get { relatedObjects(forKey: \"tags\") }\n",
      "    set { setRelatedObjects(newValue, forKey: \"tags\") }\n  }",
      "public func addToTags(_ value: A) {\n    addRelatedObjects([value], forKey: \"tags\")\n  }",
      "public func removeFromTags(_ values: NSSet) {\n    removeRelatedObjects(values, forKey: \"tags\")\n  }",
      "public var parts: NSOrderedSet? {\n    get { relatedObjects(forKey: \"parts\") }\n",
      "public func insertIntoParts(_ value: A, at idx: Int) {",
      "public func replaceParts(at indexes: NSIndexSet, with values: [A]) {",
    ] { #expect(properties.contains(declaration)) }
    #expect(properties.contains("import Foundation"))
  }

  @Test func `A relationship whose user info asks for it has a Set`() throws {
    let output = try Modelgen.run(
      entities: """
        <entity name="A" representedClassName="A" codeGenerationType="class">
          <relationship name="tags" toMany="YES" destinationEntity="A">
            <userInfo><entry key="OCDSwiftSet" value="YES"/></userInfo>
          </relationship>
        </entity>
        """)
    let properties = try #require(output.files["A+CoreDataProperties.swift"])
    for declaration in [
      "public var tags: Set<A>? {\n    get { relatedObjects(forKey: \"tags\") }\n",
      "public func addToTags(_ values: Set<A>) {\n    addRelatedObjects(values, forKey: \"tags\")\n  }",
    ] { #expect(properties.contains(declaration)) }
    #expect(!properties.contains("import Foundation"))
  }

  @Test func `XML that looks like the end of a Swift literal is embedded unharmed`() throws {
    let entity = "<entity name='A'><!-- \"\"\"# \\#(x) \"\"\"## --></entity>"
    let output = try Modelgen.run(entities: entity)
    let embedding = try #require(output.files["Test+EmbeddedModel.swift"])
    #expect(embedding.contains("###\"\"\"\n<model>"))
    #expect(embedding.contains(entity))
  }

  @Test func `Two runs write the same bytes`() throws {
    let entity = #"<entity name="A" representedClassName="A" codeGenerationType="class"/>"#
    #expect(try Modelgen.run(entities: entity).files == Modelgen.run(entities: entity).files)
  }

  struct BadModel: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var entities = ""
    var version: String?
    let message: String
  }

  static let badModels = [
    BadModel(
      testDescription: "no XML", entities: "\n<entity",
      message: "contents, line 2: This is not well-formed XML"),
    BadModel(
      testDescription: "an unknown attribute type",
      entities: "\n\n<entity name='A'><attribute name='b' attributeType='Integer 8'/></entity>",
      message: "contents, line 3: Attribute 'A.b' has the unknown type 'Integer 8'."),
    BadModel(
      testDescription: "a name that Core Data reserves",
      entities: """
        <entity name='A' representedClassName='A' codeGenerationType='class'>
          <attribute name='objectID' attributeType='String'/>
        </entity>
        """,
      message: "Test.xcdatamodeld: Entity 'A': Core Data reserves the name 'objectID'. Rename that property."),
    BadModel(
      testDescription: "a Set for an order",
      entities: """
        <entity name='A' representedClassName='A' codeGenerationType='class'>
          <relationship name='b' toMany='YES' ordered='YES' destinationEntity='A'>
            <userInfo><entry key='OCDSwiftSet' value='YES'/></userInfo>
          </relationship>
        </entity>
        """,
      message: "Test.xcdatamodeld: Relationship 'A.b': OCDSwiftSet is for unordered to-many relationships. Remove it."),
    BadModel(
      testDescription: "neither YES nor NO",
      entities: """
        <entity name='A' representedClassName='A' codeGenerationType='class'>
          <relationship name='b' toMany='YES' destinationEntity='A'>
            <userInfo><entry key='OCDSwiftSet' value='true'/></userInfo>
          </relationship>
        </entity>
        """,
      message: "Test.xcdatamodeld: Relationship 'A.b': OCDSwiftSet is 'true'. Write YES or NO."),
    BadModel(
      testDescription: "two entities that generate one class",
      entities: """
        <entity name='A' representedClassName='X' codeGenerationType='class'/>
        <entity name='B' representedClassName='X' codeGenerationType='class'/>
        """,
      message: "The entities A, B would all generate the class 'X'."),
    BadModel(
      testDescription: "an entity with the class of its parent",
      entities: """
        <entity name='A' representedClassName='X'/>
        <entity name='B' representedClassName='X' parentEntity='A' codeGenerationType='class'/>
        """,
      message: "The entity 'B' has the class of its parent entity."),
    BadModel(
      testDescription: "a current version that is not there", version: "Other.xcdatamodel",
      message: "names the version 'Other.xcdatamodel', which does not exist."),
  ]

  @Test(arguments: badModels)
  func `A model that no code can be made from is an error that says where and what`(_ model: BadModel) throws {
    let output = try Modelgen.run(entities: model.entities, currentVersion: model.version)
    #expect(output.status == 65)
    #expect(output.messages.contains(model.message))
    #expect(output.files.isEmpty)
  }
}

/// The generator next to this test bundle, run on a model made for the occasion.
private enum Modelgen {
  struct Output {
    var status: Int32
    var messages: String
    var files: [String: String]
  }

  static func run(entities: String, currentVersion: String? = nil) throws -> Output {
    let folder = try TemporaryFolder()
    let model = folder.file("Test.xcdatamodeld")
    let version = model.appending(path: "Test.xcdatamodel")
    let output = folder.file("output")
    try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
    try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
    try Data("<model>\(entities)</model>".utf8).write(to: version.appending(path: "contents"))
    if let currentVersion {
      let plist = try PropertyListSerialization.data(
        fromPropertyList: ["_XCCurrentVersionName": currentVersion], format: .xml, options: 0)
      try plist.write(to: model.appending(path: ".xccurrentversion"))
    }

    let program = try #require(Bundle.main.executableURL).deletingLastPathComponent().appending(path: "modelgen")
    let run = try Programs.run(program.path, [model.path, "Module", output.path], in: folder)
    let names = try FileManager.default.contentsOfDirectory(atPath: output.path)
    return Output(
      status: run.status,
      messages: run.messages,
      files: Dictionary(
        uniqueKeysWithValues: try names.map {
          ($0, try String(contentsOf: output.appending(path: $0), encoding: .utf8))
        }))
  }
}
