import Foundation
import ModelTestSupport
import Testing

@testable import ManagedObjectModel
@testable import PersistentStores

/// What archives of descriptions hold beyond the stores in shared/stores. Rules: Apple documentation,
/// NSPropertyDescription ("validationPredicates"), NSFetchRequest, NSPredicate; the keys are those of real files.
@Suite("Archived descriptions become descriptions")
struct ArchivedDescriptionTests {
  private func attribute(
    _ builder: ArchiveBuilder, _ type: NSAttributeType, values: [String: Any] = [:],
    of name: String = "NSAttributeDescription"
  ) -> [String: Any] {
    builder.object(name, ["NSAttributeType": Int(type.rawValue), "NSIsOptional": true].merging(values) { $1 })
  }

  private func thing(
    _ type: NSAttributeType, _ values: (ArchiveBuilder) -> [String: Any], of name: String = "NSAttributeDescription"
  ) throws -> (attribute: NSAttributeDescription, notes: [String], model: NSManagedObjectModel) {
    let builder = ArchiveBuilder()
    let made = attribute(builder, type, values: values(builder), of: name)
    let compiled = try CompiledModel(archive: thingArchive(builder, [("value", made)]))
    let found = try #require(compiled.model.entitiesByName["Thing"]?.attributesByName["value"])
    return (found, compiled.notes, compiled.model)
  }

  @Test("bounds, lengths and patterns come out of validation predicates")
  func constraints() throws {
    let number = try thing(.integer16AttributeType) { builder in
      let bounds = [
        builder.compare(builder.itself, type: 3, with: builder.constant(-3)),
        builder.compare(builder.itself, type: 0, with: builder.constant(10)),
      ]
      return ["NSValidationPredicates": builder.list(bounds)]
    }
    #expect(number.notes == [])
    #expect(number.attribute.minimumValue as? Int64 == -3)
    #expect(number.attribute.maximumValue as? Int64 == 9)

    let text = try thing(.stringAttributeType) { builder in
      let rules = [
        builder.compound(
          1,
          [
            builder.compare(builder.keys("length"), type: 3, with: builder.constant(2)),
            builder.compare(builder.keys("length"), type: 1, with: builder.constant(5)),
          ]), builder.compare(builder.itself, type: 6, with: builder.constant("[a-z]+")),
        builder.compare(builder.itself, type: 99, with: builder.constant("b")),
      ]
      return [
        "NSValidationPredicates": builder.list(rules),
        "NSValidationWarnings": builder.list([1, 2].map(builder.add) + [builder.add("Use a b.")]),
      ]
    }
    #expect(text.notes == [])
    #expect(text.attribute.minimumLength == 2)
    #expect(text.attribute.maximumLength == 5)
    #expect(text.attribute.regularExpression == "[a-z]+")
    let formats: [String] = text.attribute.validationPredicates.map { $0.formatDescription }
    #expect(formats == ["SELF CONTAINS \"b\""])
    #expect(text.attribute.validationWarnings.first as? String == "Use a b.")
    #expect(text.attribute.constraintViolation(of: .text("abab")) == nil)
    #expect(text.attribute.constraintViolation(of: .text("aa"))?.code == NSManagedObjectValidationError)

    let date = try thing(.dateAttributeType) { builder in
      let bound = builder.object(
        "NSConstantValueExpression", ["NSConstantValue": builder.object("NSDate", ["NS.time": 86400.5])])
      return ["NSValidationPredicates": builder.list([builder.compare(builder.itself, type: 3, with: bound)])]
    }
    #expect(date.attribute.minimumValue as? Date == Date(timeIntervalSinceReferenceDate: 86400.5))
  }

  @Test("a predicate that can't be checked is a note")
  func unknownPredicates() throws {
    let found = try thing(.stringAttributeType) { builder in
      let other = builder.object("NSComparisonPredicate", ["NSLeftExpression": builder.itself])
      return ["NSValidationPredicates": builder.list([builder.object("AppPredicate"), other])]
    }
    let note = "A validation predicate of 'Thing.value' can't be read and will not be checked."
    #expect(found.notes == [note, note])
    #expect(found.attribute.constraints.isEmpty && found.attribute.validationPredicates.isEmpty)
  }

  @Test("default values are of their attribute's class")
  func defaults() throws {
    func value(_ type: NSAttributeType, _ make: (ArchiveBuilder) -> [String: Any]) throws -> Any? {
      let found = try thing(type) { ["NSDefaultValue": make($0)] }
      #expect(found.notes == [])
      return found.attribute.defaultValue
    }
    let integer = try value(.integer32AttributeType) { $0.add(70_000) }
    #expect((integer as? NSNumber)?.int64Value == 70_000)
    let flag = try value(.booleanAttributeType) { $0.add(true) }
    #expect((flag as? NSNumber)?.boolValue == true)
    let real = try value(.doubleAttributeType) { $0.add(0.25) }
    #expect((real as? NSNumber)?.doubleValue == 0.25)
    let text = try value(.stringAttributeType) { $0.object("NSMutableString", ["NS.string": "ü"]) }
    #expect(text as? String == "ü")
    let bytes = try value(.binaryDataAttributeType) { $0.add(Data([1, 2])) }
    #expect(bytes as? Data == Data([1, 2]))
    let day = try value(.dateAttributeType) { $0.object("NSDate", ["NS.time": -1.5]) }
    #expect(day as? Date == Date(timeIntervalSinceReferenceDate: -1.5))
    let uuid = try value(.UUIDAttributeType) { $0.object("NSUUID", ["NS.uuidbytes": Data(0..<16)]) }
    #expect((uuid as? UUID)?.uuidString == "00010203-0405-0607-0809-0A0B0C0D0E0F")
    let place = try value(.URIAttributeType) { builder in
      builder.object("NSURL", ["NS.base": ["CF$UID": 0], "NS.relative": builder.add("https://example.org/a")])
    }
    #expect(place as? URL == URL(string: "https://example.org/a"))
    // -12.34: one word, 1234, of sixteen bytes in the order of Intel's processors, times a hundredth.
    let mantissa = Data([0xD2, 0x04] + Array(repeating: 0, count: 14))
    let decimal = try value(.decimalAttributeType) { builder in
      builder.object(
        "NSDecimalNumber",
        [
          "NS.exponent": -2, "NS.length": 1, "NS.negative": true, "NS.compact": true, "NS.mantissa.bo": 1,
          "NS.mantissa": mantissa,
        ])
    }
    #expect(decimal as? NSDecimalNumber == NSDecimalNumber(string: "-12.34"))
  }

  @Test("a default value of the app's own class, or out of range, is left out with a note")
  func foreignDefaults() throws {
    let note =
      "The default value of 'Thing.value' does not have its type, or has an unknown class; it is left out."
    let foreign = try thing(.transformableAttributeType) { ["NSDefaultValue": $0.object("App.Cover", ["text": "a"])] }
    #expect(foreign.attribute.defaultValue == nil)
    #expect(foreign.notes == [note])
    let large = try thing(.integer16AttributeType) { ["NSDefaultValue": $0.add(70_000)] }
    #expect(large.attribute.defaultValue == nil)
    #expect(large.notes == [note])
  }

  @Test("flags and a derivation are read")
  func flags() throws {
    let found = try thing(.binaryDataAttributeType) { _ in ["NSFlagsKey": 20, "NSIsTransient": true] }
    #expect(found.attribute.allowsExternalBinaryDataStorage && found.attribute.preservesValueInHistoryOnDeletion)
    #expect(found.attribute.isTransient && found.attribute.isOptional)
    let derived = try thing(
      .stringAttributeType,
      { builder in
        let call = builder.object(
          "NSFunctionExpression",
          [
            "NSSelectorName": builder.add("soundex:"), "NSArguments": builder.list([builder.keys("name")]),
            "NSExpressionType": 4,
          ])
        return ["NSDerivationExpression": call]
      }, of: "NSDerivedAttributeDescription")
    #expect((derived.attribute as? NSDerivedAttributeDescription)?.derivationExpressionFormat == "soundex:(name)")
    // The model owns the entity.
    let model = derived.model
    let entity = try #require(model.entitiesByName["Thing"])
    #expect(!entity.hasExactVersionHash)
    // What can't be compared must not stand in the way of opening, nor of finding the model.
    let metadata = [NSStoreModelVersionHashesKey: ["Thing": Data(repeating: 9, count: 32)]]
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    let stored = StoreMetadata(dictionary: metadata)
    #expect(SourceModelSearch(given: [model], for: model).find(stored, configuration: nil).found?.model === model)
    #expect(NSManagedObjectModel(byMerging: [model], forStoreMetadata: metadata) != nil)
    entity.stateVersionHash(Data(repeating: 7, count: 32))
    #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(entity.hasExactVersionHash)
    #expect(model.entityVersionHashesByName["Thing"] == Data(repeating: 7, count: 32))
    derived.attribute.isOptional = false
    #expect(!entity.hasExactVersionHash)
  }

  @Test("fetch requests, fetched properties and configurations are read")
  func requests() throws {
    let builder = ArchiveBuilder()
    let name = builder.object("NSVariableExpression", ["NSVariable": builder.add("NAME"), "NSExpressionType": 2])
    let condition = builder.compound(
      2,
      [
        builder.compare(builder.keys("value"), type: 8, with: name, options: 3),
        builder.compound(0, [builder.compare(builder.keys("size"), type: 2, with: builder.constant(3))]),
      ])
    let entityName = builder.add("Thing")
    let request = builder.object(
      "NSFetchRequest",
      [
        "NSEntity": entityName, "NSPredicate": condition, "NSFetchLimit": 5, "NSBatchSize": 20,
        "NSHasFetchRequestFlags": true, "NSFetchRequestFlags": 15,
      ])
    let damaged = builder.object("NSFetchRequest", ["NSEntity": entityName, "NSPredicate": builder.object("Odd")])
    let fetched = builder.object("NSFetchedPropertyDescription", ["NSFetchRequest": request, "NSIsOptional": true])
    let members = builder.object("NSSet", ["NS.objects": [entityName]])
    let data = try thingArchive(
      builder, [("found", fetched), ("value", attribute(builder, .stringAttributeType))],
      model: [
        "NSFetchRequestTemplates": builder.dictionary([("byName", request), ("odd", damaged)]),
        "NSConfigurations": builder.dictionary([("Cloud", members)]),
      ])
    let compiled = try CompiledModel(archive: data)
    let template = try #require(compiled.model.fetchRequestTemplates["byName"])
    #expect(template.predicateFormat == "value BEGINSWITH[cd] $NAME OR (NOT size > 3)")
    #expect(template.fetchLimit == 5)
    #expect(template.fetchBatchSize == 20)
    #expect(template.returnsDistinctResults)
    #expect(compiled.model.fetchRequestTemplates["odd"] == nil)
    #expect(compiled.notes == ["The fetch request 'odd' has a predicate that can't be read; it is left out."])
    let property = compiled.model.entitiesByName["Thing"]?.propertiesByName["found"] as? NSFetchedPropertyDescription
    #expect(property?.template?.predicateFormat == template.predicateFormat)
    #expect(compiled.model.entities(forConfigurationName: "Cloud")?.map(\.name) == ["Thing"])
  }

  @Test(
    "compound indexes of before fetch indexes become those, and count for nothing next to them",
    arguments: [false, true])
  func compoundIndexes(hasFetchIndexes: Bool) throws {
    let builder = ArchiveBuilder()
    let tuple = builder.list([builder.add("value"), builder.add("size")])
    var values: [String: Any] = ["NSCompoundIndexes": builder.list([tuple, builder.list([])])]
    if hasFetchIndexes { values["NSFetchIndexDescriptions"] = builder.list([]) }
    let data = try thingArchive(
      builder,
      [("size", attribute(builder, .integer16AttributeType)), ("value", attribute(builder, .stringAttributeType))],
      entity: values)
    let compiled = try CompiledModel(archive: data)
    let indexes = compiled.model.entitiesByName["Thing"]?.indexes ?? []
    #expect(indexes.map(\.name) == (hasFetchIndexes ? [] : ["value_size"]))
    #expect(indexes.flatMap(\.elements).map(\.propertyName) == (hasFetchIndexes ? [] : ["value", "size"]))
    #expect(compiled.notes == [])
  }

  @Test("lists of texts are read from user info, other lists are not")
  func userInfo() throws {
    let found = try thing(.stringAttributeType) { builder in
      let itself = builder.object("NSArray")
      builder.set(itself, ["NS.objects": [itself]])
      let entries = [
        ("names", builder.list(["latitude", "longitude"].map(builder.add))), ("mixed", builder.list([builder.add(1)])),
        ("itself", itself),
      ]
      return ["NSUserInfo": builder.dictionary(entries)]
    }
    #expect(found.attribute.userInfo?["names"] as? [String] == ["latitude", "longitude"])
    #expect(found.attribute.userInfo?.count == 1)
  }

  @Test("what refers to itself or to nothing does no harm")
  func circles() throws {
    let builder = ArchiveBuilder()
    let circle = builder.object("NSCompoundPredicate", ["NSCompoundPredicateType": 1])
    builder.set(circle, ["NSSubpredicates": builder.list([circle, circle])])
    let text = attribute(builder, .stringAttributeType, values: ["NSValidationPredicates": builder.list([circle])])
    let lost = builder.object("NSRelationshipDescription", ["NSMaxCount": 1, "NSDestinationEntity": ["CF$UID": 9999]])
    let odd = builder.object("NSNewKindOfProperty")
    let data = try thingArchive(builder, [("a", text), ("lost", lost), ("odd", odd)])
    let compiled = try CompiledModel(archive: data)
    #expect(compiled.model.entitiesByName["Thing"]?.properties.map(\.name) == ["a"])
    #expect(compiled.notes.count == 3)
    // Something that stores keep is gone: a hash that is stated for the whole must not count.
    compiled.stateVersionHashes(["Thing": Data(repeating: 1, count: 32)])
    #expect(compiled.model.entityVersionHashesByName["Thing"] != Data(repeating: 1, count: 32))

    let other = ArchiveBuilder()
    let entity = other.object("NSEntityDescription")
    let child = other.object("NSEntityDescription", ["NSEntityName": other.add("B"), "NSSuperentity": entity])
    other.set(entity, ["NSEntityName": other.add("A"), "NSSuperentity": child])
    let root = other.object("NSManagedObjectModel", ["NSEntities": other.dictionary([("A", entity), ("B", child)])])
    let problem = #expect(throws: ArchiveProblem.self) { try CompiledModel(archive: other.xml(root: root)) }
    #expect(problem?.description.contains("inherits from itself") == true)
  }
}
