import Foundation
import ModelTestSupport
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (docs/coredata-format.md, "Mapping models"): derived from mapping models of public apps, of which one is there as a
// source and compiled.

/// Two versions of a model with a mapping between them.
enum MappedVersions {
  static func old() throws -> NSManagedObjectModel {
    try migrationModel(
      """
      <entity name="Board"><attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="size" optional="YES" attributeType="Double"/>
        <relationship name="rider" optional="YES" maxCount="1" destinationEntity="Rider" inverseName="boards"
          inverseEntity="Rider"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint>
        </uniquenessConstraints></entity>
      <entity name="Fish" parentEntity="Board"><attribute name="fins" attributeType="Integer 16"/></entity>
      <entity name="Rider"><attribute name="name" attributeType="String" defaultValueString="?"/>
        <relationship name="boards" optional="YES" toMany="YES" destinationEntity="Board" inverseName="rider"
          inverseEntity="Board"/></entity>
      """)
  }
  static func new() throws -> NSManagedObjectModel {
    try migrationModel(
      """
      <entity name="Board"><attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="length" optional="YES" attributeType="Double"/>
        <relationship name="owner" optional="YES" maxCount="1" destinationEntity="Rider" inverseName="boards"
          inverseEntity="Rider"/>
        <relationship name="rider" optional="YES" maxCount="1" destinationEntity="Rider" inverseName="ridden"
          inverseEntity="Rider"/></entity>
      <entity name="Fish" parentEntity="Board"><attribute name="fins" attributeType="Integer 16"/></entity>
      <entity name="Rider"><attribute name="name" attributeType="String" defaultValueString="?"/>
        <relationship name="boards" optional="YES" toMany="YES" destinationEntity="Board" inverseName="owner"
          inverseEntity="Board"/>
        <relationship name="ridden" optional="YES" toMany="YES" destinationEntity="Board" inverseName="rider"
          inverseEntity="Board"/></entity>
      <entity name="Wave"><attribute name="height" optional="YES" attributeType="Double"/></entity>
      """)
  }
  static let rows = """
    INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT, ZNAME, ZSIZE, ZRIDER, ZFINS) VALUES(4, 1, 1, 'log', 9.5, 1, NULL),
      (7, 2, 3, 'keel', 5.5, 1, 2);
    INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(1, 3, 1, 'Ann');
    UPDATE Z_PRIMARYKEY SET Z_MAX = 9;
    """

  /// What the editor makes, with an expression for the renamed attribute and one for the renamed relationship.
  static func mapping() throws -> NSMappingModel {
    let model = NSMappingModel()
    let owner = ["owner": instances("RiderToRider", "rider"), "rider": instances("RiderToRider", "rider")]
    model.entityMappings = [
      entityMapping(
        "BoardToBoard", from: "Board", to: "Board", attributes: ["name": "$source.name", "length": "$source.size"],
        relationships: owner),
      entityMapping(
        "FishToFish", from: "Fish", to: "Fish",
        attributes: ["name": "$source.name", "length": "$source.size", "fins": "$source.fins"], relationships: owner),
      entityMapping(
        "RiderToRider", from: "Rider", to: "Rider", attributes: ["name": "$source.name"],
        relationships: [
          "boards": "FUNCTION($manager, \"destinationInstancesForSourceRelationshipNamed:sourceInstances:\", "
            + "\"boards\", $source.boards)", "ridden": nil,
        ]),
      entityMapping("Wave", from: nil, to: "Wave", attributes: ["height": nil]),
    ]
    let (old, new) = (try old(), try new())
    for mapping in model.entityMappings {
      mapping.sourceEntityVersionHash = mapping.sourceEntityName.flatMap { old.entityVersionHashesByName[$0] }
      mapping.destinationEntityVersionHash = mapping.destinationEntityName.flatMap {
        new.entityVersionHashesByName[$0]
      }
      mapping.sourceExpression = mapping.sourceEntityName.map { MappingExpressions.objects(of: $0) }
    }
    model.entityMappings[2].mappingType = .copyEntityMappingType
    model.entityMappings[3].mappingType = .addEntityMappingType
    return model
  }

  /// Whether the editor would generate the expression of a property of that mapping.
  static func isGenerated(_ mapping: NSEntityMapping, _ property: NSPropertyMapping) -> Bool {
    !["length", "owner"].contains(property.name) && property.valueExpression != nil
  }

  static func compiled(_ change: (NSMappingModel) -> Void = { _ in }) throws -> Data {
    let model = try mapping()
    change(model)
    return try MappingFileWriter.compiled(model)
  }

  static func source(_ change: (NSMappingModel) -> Void = { _ in }) throws -> String {
    let model = try mapping()
    change(model)
    return try MappingFileWriter.source(model, from: old(), to: new(), leaving: isGenerated)
  }

  /// All that a mapping model says, as lines.
  static func text(_ model: NSMappingModel) -> [String] {
    model.entityMappings.flatMap { mapping -> [String] in
      let properties = (mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? [])
      return [
        "\(mapping.name) \(mapping.mappingType) \(mapping.sourceEntityName ?? "-") "
          + "\(mapping.sourceEntityVersionHash?.base64EncodedString() ?? "-") \(mapping.destinationEntityName ?? "-") "
          + "\(mapping.destinationEntityVersionHash?.base64EncodedString() ?? "-") "
          + "\(mapping.entityMigrationPolicyClassName ?? "-") \(mapping.sourceExpression?.description ?? "-") "
          + "\(mapping.userInfo?.map { "\($0)=\($1)" }.sorted() ?? [])"
      ]
        + properties.map {
          "  \($0.name ?? "") \($0.valueExpression?.description ?? "-") \($0.userInfo?.map { "\($0)=\($1)" }.sorted() ?? [])"
        }
    }
  }
}

@Suite("Mapping models are read from Xcode's sources and from compiled files")
struct MappingFileTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func load(_ data: Data, _ name: String = "Map.cdm") throws -> NSMappingModel {
    try data.write(to: folder.file(name))
    return try NSMappingModel.load(contentsOf: folder.file(name))
  }

  private func load(xml: String) throws -> NSMappingModel {
    try NSMappingModel.load(contentsOf: MappingFileWriter.write(xml, to: "Map.xcmappingmodel", in: folder))
  }

  @Test("A compiled one says all that the mapping model said: types, hashes, policies, expressions, user info")
  func compiled() throws {
    let change: (NSMappingModel) -> Void = { model in
      let types: [NSEntityMappingType] = [.customEntityMappingType, .copyEntityMappingType, .removeEntityMappingType]
      for (mapping, type) in zip(model.entityMappings, types) { mapping.mappingType = type }
      model.entityMappings[0].entityMigrationPolicyClassName = "App.BoardPolicy"
      model.entityMappings[0].userInfo = ["a": "b", "n": 3]
      model.entityMappings[1].attributeMappings?[0].userInfo = ["unit": "feet"]
      let expressions = [
        "FUNCTION($entityPolicy, \"lengthOf:unit:\", $source, 2.5)", "uppercase($source.name)", "1 + $source.size * 2",
        "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Rider\", \"name == 'x'\"), "
          + "$manager.sourceContext, YES)", "FUNCTION($entityPolicy, \"count:\", $source.boards)",
        "$source.#first.name", "nil",
      ]
      model.entityMappings[0].attributeMappings = expressions.enumerated().map { number, text in
        NSPropertyMapping(name: "p\(number)", NSExpression(format: text))
      }
    }
    let expected = try MappedVersions.mapping()
    change(expected)
    let found = try load(MappedVersions.compiled(change))
    #expect(MappedVersions.text(found) == MappedVersions.text(expected))
    #expect(
      NSMappingModel(contentsOf: folder.file("Map.cdm")).map(MappedVersions.text) == MappedVersions.text(expected))
  }

  @Test("A source says the same as the compiled one; what the editor generates is generated by its rules")
  func source() throws {
    let compiled = try load(MappedVersions.compiled())
    let source = try load(xml: MappedVersions.source())
    #expect(MappedVersions.text(source) == MappedVersions.text(compiled))
    let file = folder.file("Map.xcmappingmodel/xcmapping.xml")
    #expect(MappedVersions.text(try NSMappingModel.load(contentsOf: file)) == MappedVersions.text(compiled))
  }

  @Test("Names, filters, policies and user info of a source; a written expression counts, whatever the flag says")
  func sourceDetails() throws {
    let xml = try MappedVersions.source { model in
      model.entityMappings[0].entityMigrationPolicyClassName = "App.BoardPolicy"
      model.entityMappings[0].userInfo = ["a": "b"]
    }
    var changed = xml.replacing("<attribute name=\"name\" type=\"string\">FishToFish</attribute>", with: "")
    changed = changed.replacing(
      "<attribute name=\"sourcename\" type=\"string\">Rider</attribute>",
      with: "<attribute name=\"sourcename\" type=\"string\">Rider</attribute>"
        + "<attribute name=\"sourcefilterpredicatestring\" type=\"string\">name &lt; \"B\"</attribute>")
    let found = try load(xml: changed)
    #expect(found.entityMappings.map(\.name) == ["BoardToBoard", "FishToFish", "RiderToRider", "Wave"])
    #expect(found.entityMappings[0].mappingType == .customEntityMappingType)
    #expect(found.entityMappings[0].entityMigrationPolicyClassName == "App.BoardPolicy")
    #expect(found.entityMappings[0].userInfo as? [String: String] == ["a": "b"])
    #expect(found.entityMappings[2].sourceExpression == MappingExpressions.objects(of: "Rider", where: "name < \"B\""))
    #expect(found.entityMappings[3].mappingType == .addEntityMappingType)
    #expect(found.entityMappings[0].attributeMappings?.map(\.name) == ["length", "name"])
  }

  @Test("A relationship with a key path and a mapping follows these")
  func keyPaths() throws {
    let xml = try MappedVersions.source().replacing(
      "<attribute name=\"name\" type=\"string\">ridden</attribute>",
      with: "<attribute name=\"name\" type=\"string\">ridden</attribute>"
        + "<attribute name=\"sourcekeypath\" type=\"string\">boards.rider.boards</attribute>"
        + "<attribute name=\"sourcemappingname\" type=\"string\">BoardToBoard</attribute>"
    ).replacing("type=\"string\">0</attribute>", with: "type=\"string\">1</attribute>")
    let ridden = try load(xml: xml).entityMappings[2].relationshipMappings?.last
    #expect(
      ridden?.valueExpression == NSExpression(format: instances("BoardToBoard", "boards.rider.boards")))
  }

  @Test(
    "A key path that no expression can have, or that leads nowhere, is refused",
    arguments: [("boards..rider", true, "not a key path"), ("@x", true, "not a key path"), ("none", false, "'none'")])
  func wrongKeyPaths(path: String, hasMapping: Bool, word: String) throws {
    let mapping = "<attribute name=\"sourcemappingname\" type=\"string\">BoardToBoard</attribute>"
    let xml = try MappedVersions.source().replacing(
      "<attribute name=\"name\" type=\"string\">ridden</attribute>",
      with: "<attribute name=\"name\" type=\"string\">ridden</attribute>"
        + "<attribute name=\"sourcekeypath\" type=\"string\">\(path)</attribute>" + (hasMapping ? mapping : "")
    ).replacing("type=\"string\">0</attribute>", with: "type=\"string\">1</attribute>")
    let error = #expect(throws: NSError.self) { try load(xml: xml) }
    #expect(error?.localizedDescription.contains(word) == true, "\(error?.localizedDescription ?? "")")
  }

  @Test("A value expression without an operand names no property of the source")
  func functions() {
    let mapping = NSPropertyMapping()
    for format in ["now()", "random()", "min({1, 2})", "1 + 2"] {
      mapping.valueExpression = NSExpression(format: format)
      #expect(mapping.sourceName == nil, "\(format)")
    }
  }

  @Test(
    "What is not known of a source is refused, with what to give instead",
    arguments: [
      ("mappingtypename\" type=\"string\">Undefined", "mappingtypename\" type=\"string\">Copy", "Its type is 'Copy'"),
      ("name=\"sourcename\"", "name=\"sourcenamen\"", "'sourcenamen' is not a known attribute"),
      ("XDDEVATTRIBUTEMAPPING", "XDDEVSTRANGE", "XDDEVSTRANGE"), ("XDDEVMAPPINGMODEL", "XDDEVENTITYMAPPING", "known"),
      (">Wave<", ">Wind<", "'Wind', which the copy"), (" idrefs=\"z", " idrefs=\"y", "refers to 'y"),
      ("mappingnumber\" type=\"string\">", "mappingnumber\" type=\"string\">x", "not a number"),
      ("\"sourcemodeldata\" type=\"string\">", "\"sourcemodeldata\" type=\"string\">AAAA", "can't be read"),
      ("\"valueexpressiondata\" type=\"string\">", "\"valueexpressiondata\" type=\"string\">AAAA", "can't be read"),
      ("</database>", "", "not well-formed"),
    ])
  func refusedSources(part: String, other: String, word: String) throws {
    let xml = try MappedVersions.source()
    #expect(xml.contains(part))
    let error = #expect(throws: NSError.self) { try load(xml: xml.replacing(part, with: other)) }
    #expect(error?.code == CocoaError.fileReadCorruptFile.rawValue)
    let text = error?.localizedDescription ?? ""
    #expect(text.contains(word) && (text.contains(".cdm") || text.contains("export it again")), "\(text)")
    #expect(NSMappingModel(contentsOf: folder.file("Map.xcmappingmodel")) == nil)
  }

  @Test("Compiled ones of another form, with expressions of another form, and missing files are refused")
  func refusedFiles() throws {
    let conditional = NSExpression(format: "TERNARY($source.size > 1, 1, 2)")
    let changes: [((NSMappingModel) -> Void, String)] = [
      ({ $0.entityMappings[0].attributeMappings?[0].valueExpression = conditional }, "'BoardToBoard.length'"),
      ({ $0.entityMappings[1].sourceExpression = conditional }, "'FishToFish'"),
      ({ $0.entityMappings[1].userInfo = ["a": ["b": 1]] }, "'a' in its user info"),
    ]
    for (change, word) in changes {
      let error = #expect(throws: NSError.self) { try load(MappedVersions.compiled(change)) }
      #expect(error?.localizedDescription.contains(word) == true, "\(error?.localizedDescription ?? "")")
      #expect(error?.localizedDescription.contains(".xcmappingmodel") == true)
    }
    let other = ArchiveBuilder()
    #expect(throws: NSError.self) { try load(other.xml(root: other.object("NSManagedObjectModel"))) }
    let missing = #expect(throws: NSError.self) { try NSMappingModel.load(contentsOf: folder.file("None.cdm")) }
    #expect(missing?.code == CocoaError.fileReadNoSuchFile.rawValue)
    try folder.makeFolder("Empty.xcmappingmodel")
    let empty = #expect(throws: NSError.self) {
      try NSMappingModel.load(contentsOf: folder.file("Empty.xcmappingmodel"))
    }
    #expect(empty?.code == CocoaError.fileReadNoSuchFile.rawValue)
    #expect(NSMappingModel(contentsOf: nil) == nil)
  }
}
