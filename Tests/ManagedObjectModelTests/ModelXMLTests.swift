import Foundation
import Testing

@testable import ManagedObjectModel

@Suite("Model files are read whole, and refused with the line that is wrong")
struct ModelXMLTests {
  static let xml = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" userDefinedModelVersionIdentifier="v2" someday="new">
      <entity name="Spot" representedClassName=".SurfSpot" codeGenerationType="category" isAbstract="YES"
          syncable="NO" versionHashModifier="2" elementID="Place">
        <attribute name="name" attributeType="String" minValueString="2" maxValueString="40"
            regularExpressionString="[A-Z].*" versionHashModifier="m" elementID="title"/>
        <attribute name="rating" optional="YES" attributeType="Integer 16" defaultValueString="3"
            minValueString="1" maxValueString="5.0" usesScalarValueType="YES"/>
        <attribute name="big" attributeType="Integer 64" defaultValueString="9007199254740993"/>
        <attribute name="height" optional="YES" attributeType="Double" defaultValueString="1.5"/>
        <attribute name="period" optional="YES" attributeType="Float" defaultValueString="0.25"/>
        <attribute name="price" optional="YES" attributeType="Decimal" defaultValueString="19.99"
            maxValueString="100.5"/>
        <attribute name="open" optional="YES" attributeType="Boolean" defaultValueString="YES"/>
        <attribute name="closed" optional="YES" attributeType="Boolean" defaultValueString="NO"/>
        <attribute name="seen" optional="YES" attributeType="Date" defaultDateTimeInterval="86400.5"
            minDateTimeInterval="0" maxDateTimeInterval="1000000"/>
        <attribute name="id" optional="YES" attributeType="UUID"
            defaultValueString="D246D1F7-4A2D-462D-AE31-1A41C47E7B6C"/>
        <attribute name="link" optional="YES" attributeType="URI" defaultValueString="https://example.org/a"/>
        <attribute name="image" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"
            preserveAfterDeletion="YES"/>
        <attribute name="color" optional="YES" transient="YES" attributeType="Transformable"
            valueTransformerName="ColorTransformer" customClassName="Color"/>
        <attribute name="soundex" optional="YES" attributeType="String" derived="YES"
            derivationExpression="canonical:(name)"/>
        <attribute name="later" optional="YES"/>
        <relationship name="waves" optional="YES" toMany="YES" ordered="YES" minCount="1" maxCount="9"
            deletionRule="Cascade" destinationEntity="Wave" inverseName="spot" inverseEntity="Wave"/>
        <fetchedProperty name="best" optional="YES">
          <fetchRequest name="fetchedPropertyFetchRequest" entity="Wave" predicateString="rating == 5"/>
        </fetchedProperty>
        <fetchIndex name="byName">
          <fetchIndexElement property="name" type="Binary" order="descending"/>
          <fetchIndexElement property="rating" type="RTree" order="ascending"/>
        </fetchIndex>
        <uniquenessConstraints>
          <uniquenessConstraint><constraint value="name"/><constraint value="rating"/></uniquenessConstraint>
          <uniquenessConstraint><constraint value="id"/></uniquenessConstraint>
        </uniquenessConstraints>
        <userInfo><entry key="color" value="blue"/><entry key="empty" value=""/></userInfo>
        <somethingNew of="the future"/>
      </entity>
      <entity name="Reef" representedClassName="Coast.Reef" parentEntity="Spot"/>
      <entity name="Wave">
        <relationship name="spot" maxCount="1" deletionRule="No Action" destinationEntity="Spot"
            inverseName="waves" inverseEntity="Spot"/>
      </entity>
      <fetchRequest name="AllWaves" entity="Wave" predicateString="TRUEPREDICATE" fetchLimit="7"/>
      <configuration name="Cloud"><memberEntity name="Wave"/></configuration>
      <elements><element name="Spot" positionX="0"/></elements>
    </model>
    """

  private func model() throws -> NSManagedObjectModel {
    try NSManagedObjectModel.load(xml: Data(Self.xml.utf8))
  }

  private func attribute(_ name: String) throws -> NSAttributeDescription {
    try #require(try model().entitiesByName["Spot"]?.attributesByName[name])
  }

  @Test("entities with inheritance, class names, constraints and user info")
  func entities() throws {
    let model = try model()
    let spot = try #require(model.entitiesByName["Spot"])
    let reef = try #require(model.entitiesByName["Reef"])
    #expect(model.entities.map(\.name) == ["Spot", "Reef", "Wave"])
    #expect(model.versionIdentifiers == ["v2"])
    #expect(spot.isAbstract && !reef.isAbstract)
    #expect(spot.managedObjectClassName == "SurfSpot" && spot.representedClassName == ".SurfSpot")
    #expect(reef.managedObjectClassName == "Coast.Reef")
    #expect(model.entitiesByName["Wave"]?.managedObjectClassName == "NSManagedObject")
    #expect(spot.codeGenerationType == "category" && reef.codeGenerationType == nil)
    #expect(!spot.isSyncable && reef.isSyncable)
    #expect(spot.versionHashModifier == "2" && spot.renamingIdentifier == "Place")
    #expect(reef.renamingIdentifier == "Reef")
    #expect(spot.subentities.map(\.name) == ["Reef"] && reef.superentity === spot)
    #expect(reef.rootEntity === spot && reef.isKindOf(entity: spot) && !spot.isKindOf(entity: reef))
    #expect(spot.uniquenessConstraintNames == [["name", "rating"], ["id"]])
    #expect(spot.userInfo as? [String: String] == ["color": "blue", "empty": ""])
    #expect(reef.propertiesByName.count == spot.propertiesByName.count)
    #expect(spot.managedObjectModel === model)
  }

  @Test("default values have the type of their attribute")
  func defaults() throws {
    #expect(try attribute("rating").defaultValue as? Int16 == 3)
    #expect(try attribute("rating").defaultValue is NSNumber)
    #expect(try attribute("big").defaultValue as? Int64 == 9_007_199_254_740_993)
    #expect(try attribute("height").defaultValue as? Double == 1.5)
    #expect(try attribute("period").defaultValue as? Float == 0.25)
    #expect(try attribute("price").defaultValue as? NSDecimalNumber == NSDecimalNumber(string: "19.99"))
    #expect(try attribute("open").defaultValue as? Bool == true)
    #expect(try attribute("closed").defaultStoredValue == .integer(0))
    #expect(try attribute("seen").defaultValue as? Date == Date(timeIntervalSinceReferenceDate: 86400.5))
    #expect(
      try attribute("id").defaultValue as? UUID == UUID(uuidString: "D246D1F7-4A2D-462D-AE31-1A41C47E7B6C"))
    #expect(try attribute("link").defaultStoredValue == .text("https://example.org/a"))
    #expect(try attribute("name").defaultValue == nil && attribute("name").defaultStoredValue == .null)
  }

  /// Seen in public models: the editor keeps a default's text when the type of its attribute is changed.
  @Test(
    "a number's default may have the text of the type that its attribute had before",
    arguments: [
      ("Integer 16", "0.0", 0), ("Integer 64", "-7.0", -7), ("Integer 32", "NO", 0), ("Integer 32", "YES", 1),
      ("Double", "NO", 0), ("Boolean", "0.0", 0), ("Integer 16", "1.5", nil), ("Integer 16", "40000.0", nil),
      ("Integer 32", "no idea", nil), ("UUID", "NO", nil),
    ])
  func formerDefaults(type: String, text: String, number: Int?) throws {
    let xml = """
      <model><entity name="A"><attribute name="a" attributeType="\(type)" defaultValueString="\(text)"/></entity></model>
      """
    let load = {
      try NSManagedObjectModel.load(xml: Data(xml.utf8), file: URL(fileURLWithPath: "/models/contents"))
    }
    guard let number else {
      let error = #expect(throws: NSError.self) { _ = try load() }
      #expect(error?.localizedDescription.contains("'\(text)', which is not a \(type)") == true)
      return
    }
    let attribute = try #require(try load().entitiesByName["A"]?.attributesByName["a"])
    #expect((attribute.defaultValue as? NSNumber)?.intValue == number)
  }

  @Test("every other fact of attributes")
  func attributes() throws {
    let name = try attribute("name")
    #expect(!name.isOptional && name.constraints.lengthMin == 2 && name.constraints.lengthMax == 40)
    #expect(name.regularExpression == "[A-Z].*")
    #expect(name.versionHashModifier == "m" && name.renamingIdentifier == "title")
    let rating = try attribute("rating")
    #expect(rating.isOptional && rating.usesScalarValueType && rating.attributeValueClassName == "NSNumber")
    #expect(rating.constraints.minimum == .integer(1) && rating.constraints.maximum == .integer(5))
    let seen = try attribute("seen")
    #expect(seen.constraints.minimum == .real(0) && seen.constraints.maximum == .real(1_000_000))
    #expect(try attribute("price").constraints.maximum == .decimal(Decimal(string: "100.5") ?? 0))
    let image = try attribute("image")
    #expect(image.allowsExternalBinaryDataStorage && image.preservesValueInHistoryOnDeletion)
    let color = try attribute("color")
    #expect(color.isTransient && color.valueTransformerName == "ColorTransformer")
    #expect(color.attributeValueClassName == "Color")
    let soundex = try #require(try attribute("soundex") as? NSDerivedAttributeDescription)
    #expect(soundex.derivationExpressionFormat == "canonical:(name)")
    #expect(try attribute("later").attributeType == .undefinedAttributeType)
  }

  @Test("relationships know both ends, counts, order and delete rule")
  func relationships() throws {
    let model = try model()
    let waves = try #require(model.entitiesByName["Spot"]?.relationshipsByName["waves"])
    let spot = try #require(model.entitiesByName["Wave"]?.relationshipsByName["spot"])
    #expect(waves.isToMany && waves.isOrdered && waves.minCount == 1 && waves.maxCount == 9)
    #expect(waves.deleteRule == .cascadeDeleteRule && spot.deleteRule == .noActionDeleteRule)
    #expect(waves.inverseRelationship === spot && spot.inverseRelationship === waves)
    #expect(waves.destinationEntity?.name == "Wave" && spot.destinationEntity?.name == "Spot")
    #expect(!spot.isToMany && !spot.isOptional)
    #expect(waves.entity.relationships(forDestination: spot.entity) == [waves])
  }

  @Test("fetch indexes, fetched properties, fetch requests and configurations")
  func fetchesAndConfigurations() throws {
    let model = try model()
    let spot = try #require(model.entitiesByName["Spot"])
    let index = try #require(spot.indexes.first)
    #expect(index.name == "byName" && index.entity === spot)
    #expect(index.elements.map(\.isAscending) == [false, true])
    #expect(index.elements.map(\.collationType) == [.binary, .rTree])
    #expect(index.elements.first?.property === spot.propertiesByName["name"])
    let best = try #require(spot.propertiesByName["best"] as? NSFetchedPropertyDescription)
    #expect(best.template?.entityName == "Wave" && best.template?.predicateFormat == "rating == 5")
    #expect(model.fetchRequestTemplates["AllWaves"]?.fetchLimit == 7)
    #expect(model.configurations == ["Cloud"])
    #expect(model.entities(forConfigurationName: "Cloud")?.map(\.name) == ["Wave"])
    #expect(model.entities(forConfigurationName: nil)?.count == 3)
    #expect(model.entities(forConfigurationName: "Other") == nil)
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let lines: [String]
    let line: Int
    let mention: String
  }

  @Test(
    "a wrong model is refused with its line and the remedy",
    arguments: [
      Refusal(
        testDescription: "not XML", lines: ["<model>", "<entity", "</model>"], line: 3, mention: "well-formed"
      ),
      Refusal(testDescription: "another document", lines: ["<plist/>"], line: 1, mention: "'plist'"),
      Refusal(
        testDescription: "entity without name", lines: ["<model>", "<entity/>", "</model>"], line: 2,
        mention: "no name"),
      Refusal(
        testDescription: "attribute without name",
        lines: ["<model>", #"<entity name="A">"#, "<attribute/>", "</entity></model>"], line: 3,
        mention: "no name"),
      Refusal(
        testDescription: "unknown type",
        lines: [
          "<model>", #"<entity name="A">"#, #"<attribute name="a" attributeType="Text"/>"#,
          "</entity></model>",
        ],
        line: 3, mention: "'A.a' has the unknown type 'Text'"),
      Refusal(
        testDescription: "default of another type",
        lines: [
          "<model>", #"<entity name="A">"#, #"<attribute name="a" attributeType="Integer 16""#,
          #" defaultValueString="99999"/>"#, "</entity></model>",
        ], line: 3, mention: "99999"),
      Refusal(
        testDescription: "bad pattern",
        lines: [
          #"<model><entity name="A">"#,
          #"<attribute name="a" attributeType="String" regularExpressionString="(("/>"#, "</entity></model>",
        ], line: 2, mention: "(("),
      Refusal(
        testDescription: "dangling parent",
        lines: ["<model>", #"<entity name="A" parentEntity="B"/>"#, "</model>"],
        line: 2, mention: "'B'"),
      Refusal(
        testDescription: "circle of parents",
        lines: [
          "<model>", #"<entity name="A" parentEntity="B"/>"#, #"<entity name="B" parentEntity="A"/>"#,
          "</model>",
        ], line: 2, mention: "inherits from itself"),
      Refusal(
        testDescription: "dangling destination",
        lines: [
          #"<model><entity name="A">"#, #"<relationship name="r" destinationEntity="B"/>"#,
          "</entity></model>",
        ],
        line: 2, mention: "'B'"),
      Refusal(
        testDescription: "dangling inverse",
        lines: [
          #"<model><entity name="A">"#, #"<relationship name="r" destinationEntity="A" inverseName="s"/>"#,
          "</entity></model>",
        ], line: 2, mention: "'s'"),
      Refusal(
        testDescription: "two of one name",
        lines: ["<model>", #"<entity name="A"/>"#, #"<entity name="A"/></model>"#],
        line: 3, mention: "two entities"),
      Refusal(
        testDescription: "constraint on nothing",
        lines: [
          "<model>", #"<entity name="A"><uniquenessConstraints><uniquenessConstraint>"#,
          #"<constraint value="x"/></uniquenessConstraint></uniquenessConstraints></entity></model>"#,
        ], line: 2, mention: "'x'"),
      Refusal(
        testDescription: "configuration of strangers",
        lines: ["<model>", #"<configuration name="C"><memberEntity name="X"/></configuration></model>"#],
        line: 2, mention: "'X'"),
    ])
  func refusals(refusal: Refusal) {
    let file = URL(fileURLWithPath: "/models/contents")
    let error = #expect(throws: NSError.self) {
      try NSManagedObjectModel.load(xml: Data(refusal.lines.joined(separator: "\n").utf8), file: file)
    }
    let message = error?.localizedDescription ?? ""
    #expect(error?.domain == NSCocoaErrorDomain && error?.code == CocoaError.fileReadCorruptFile.rawValue)
    #expect(message.hasPrefix("/models/contents, line \(refusal.line): "), "\(message)")
    #expect(message.contains(refusal.mention), "\(message)")
    #expect(error?.localizedRecoverySuggestion?.isEmpty == false)
  }
}
