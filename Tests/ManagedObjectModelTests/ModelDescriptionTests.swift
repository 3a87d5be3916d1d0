import Foundation
import Testing

@testable import ManagedObjectModel

@Suite("Descriptions are built in code, frozen in use, and copied")
struct ModelDescriptionTests {
  private func attribute(_ name: String, _ type: NSAttributeType = .stringAttributeType)
    -> NSAttributeDescription
  {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    return attribute
  }

  private func entity(_ name: String, _ properties: [NSPropertyDescription] = []) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = properties
    return entity
  }

  /// Spot ← Reef, Spot ⟷ Photo.
  private func sample() -> NSManagedObjectModel {
    let (spot, reef, photo) = (
      entity("Spot", [attribute("name"), attribute("Zone"), attribute("area")]),
      entity("Reef", [attribute("depth")]),
      entity("Photo")
    )
    let (photos, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
    photos.name = "photos"
    photos.maxCount = 0
    photos.destinationEntity = photo
    photos.inverseRelationship = owner
    owner.name = "spot"
    owner.destinationEntity = spot
    owner.inverseRelationship = photos
    spot.properties.append(photos)
    photo.properties = [owner]
    spot.subentities = [reef]
    spot.indexes = [
      NSFetchIndexDescription(
        name: "byName",
        elements: spot.attributesByName["name"].map {
          [NSFetchIndexElementDescription(property: $0, collationType: .binary)]
        })
    ]
    let model = NSManagedObjectModel()
    model.entities = [spot, reef, photo]
    model.setEntities([photo], forConfigurationName: "Photos")
    return model
  }

  @Test("slots are own and inherited attributes in byte order of their names, frozen or not")
  func slots() throws {
    let model = sample()
    let reef = try #require(model.entitiesByName["Reef"])
    for _ in 0..<2 {
      #expect(reef.attributeSlots.map(\.name) == ["Zone", "area", "depth", "name"])
      #expect(
        reef.slot(named: "depth") == 2 && reef.slot(named: "photos") == nil && reef.slot(named: "x") == nil)
      #expect(reef.propertiesByName.keys.sorted() == ["Zone", "area", "depth", "name", "photos"])
      model.freeze()
    }
    #expect(model.isFrozen)
  }

  @Test("properties hold the inherited ones too, and adding to them adds an own one")
  func inheritedProperties() throws {
    let reef = try #require(sample().copyEntity("Reef"))
    #expect(reef.entity.properties.map(\.name) == ["depth", "name", "Zone", "area", "photos"])
    let added = attribute("fish")
    reef.entity.properties += [added]
    #expect(reef.entity.ownProperties.map(\.name) == ["depth", "fish"])
    #expect(added.entity === reef.entity)
    #expect(reef.entity.propertiesByName["name"]?.entity.name == "Spot")
  }

  @Test("freezing keeps every answer, and twice is once")
  func freezing() throws {
    let model = sample()
    let before = model.entityVersionHashesByName
    model.freeze()
    model.freeze()
    #expect(model.entityVersionHashesByName == before)
    #expect(model.entitiesByName["Reef"]?.attributesByName.count == 4)
  }

  @Test("many threads may freeze and read at once")
  func concurrentFreeze() async {
    let model = sample()
    await withTaskGroup(of: Int.self) { group in
      for _ in 0..<32 {
        group.addTask {
          model.freeze()
          return model.entitiesByName["Reef"]?.attributeSlots.count ?? 0
        }
      }
      for await count in group { #expect(count == 4) }
    }
  }

  @Test("changing a model in use stops the program")
  func frozenStops() async {
    await #expect(processExitsWith: .failure) {
      let entity = NSEntityDescription()
      entity.name = "A"
      let model = NSManagedObjectModel()
      model.entities = [entity]
      model.freeze()
      entity.isAbstract = true
    }
    await #expect(processExitsWith: .failure) {
      let attribute = NSAttributeDescription()
      let entity = NSEntityDescription()
      entity.name = "A"
      entity.properties = [attribute]
      let model = NSManagedObjectModel()
      model.entities = [entity]
      model.freeze()
      attribute.defaultValue = 1
    }
  }

  @Test("a copy is equal, separate, mutable, and whole")
  func copying() throws {
    let model = sample()
    model.freeze()
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    #expect(copy.entityVersionHashesByName == model.entityVersionHashesByName)
    #expect(copy.configurations == ["Photos"])
    let spot = try #require(copy.entitiesByName["Spot"])
    let photos = try #require(spot.relationshipsByName["photos"])
    #expect(photos.destinationEntity === copy.entitiesByName["Photo"])
    #expect(photos.inverseRelationship === copy.entitiesByName["Photo"]?.relationshipsByName["spot"])
    #expect(copy.entitiesByName["Reef"]?.superentity === spot)
    #expect(spot.indexes.first?.elements.first?.property === spot.propertiesByName["name"])
    spot.name = "Place"
    #expect(model.entitiesByName["Spot"]?.name == "Spot")
  }

  @Test("merging unites models and gives up where they contradict each other")
  func merging() throws {
    let one = sample()
    let two = NSManagedObjectModel()
    two.entities = [entity("Board", [attribute("length", .doubleAttributeType)])]
    two.setEntities(two.entities, forConfigurationName: "Photos")
    let merged = try #require(NSManagedObjectModel(byMerging: [one, two, one]))
    #expect(merged.entitiesByName.keys.sorted() == ["Board", "Photo", "Reef", "Spot"])
    #expect(merged.entities(forConfigurationName: "Photos")?.map(\.name) == ["Photo", "Board"])
    #expect(merged.entitiesByName["Reef"]?.superentity === merged.entitiesByName["Spot"])
    let three = NSManagedObjectModel()
    three.entities = [entity("Board", [attribute("length", .floatAttributeType)])]
    #expect(NSManagedObjectModel(byMerging: [two, three]) == nil)
    #expect(NSManagedObjectModel(byMerging: [])?.entities == [])
    #expect(NSManagedObjectModel(byMerging: nil) == nil)
  }

  @Test("a store's metadata fits exactly the entities of its configuration")
  func compatibility() {
    let model = sample()
    let all: [String: Any] = [NSStoreModelVersionHashesKey: model.entityVersionHashesByName]
    let photos: [String: Any] = [
      NSStoreModelVersionHashesKey: model.entityVersionHashesByName.filter { $0.key == "Photo" }
    ]
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: all))
    #expect(
      model.isConfiguration(withName: "PF_DEFAULT_CONFIGURATION_NAME", compatibleWithStoreMetadata: all))
    #expect(model.isConfiguration(withName: "Photos", compatibleWithStoreMetadata: photos))
    #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: photos))
    #expect(!model.isConfiguration(withName: "Photos", compatibleWithStoreMetadata: all))
    #expect(!model.isConfiguration(withName: "None", compatibleWithStoreMetadata: all))
    #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:]))
  }

  @Test("the defaults of new descriptions are Core Data's")
  func newDescriptions() {
    let relationship = NSRelationshipDescription()
    #expect(relationship.isOptional && !relationship.isTransient && relationship.maxCount == 1)
    #expect(
      relationship.deleteRule == .nullifyDeleteRule && !relationship.isOrdered && !relationship.isToMany)
    let attribute = attribute("a", .dateAttributeType)
    #expect(attribute.attributeValueClassName == "NSDate" && attribute.type == .date)
    attribute.type = .uuid
    #expect(attribute.attributeType == .UUIDAttributeType)
    #expect(NSAttributeType.allCases.map(\.rawValue).sorted().last == 2100)
    #expect(NSEntityDescription().managedObjectClassName == "NSManagedObject")
    #expect(attribute.renamingIdentifier == "a")
  }

  @Test("validation predicates come with a warning each")
  func validationPredicates() {
    let attribute = attribute("a")
    attribute.setValidationPredicates([NSPredicate(value: true)], withValidationWarnings: ["never"])
    #expect(attribute.validationPredicates.count == 1)
    #expect(attribute.validationWarnings as? [String] == ["never"])
    attribute.setValidationPredicates(nil, withValidationWarnings: nil)
    #expect(attribute.validationPredicates.isEmpty)
  }
}

/// An entity together with the model that keeps it alive.
private struct OwnedEntity {
  let model: NSManagedObjectModel
  let entity: NSEntityDescription
}

extension NSManagedObjectModel {
  fileprivate func copyEntity(_ name: String) -> OwnedEntity? {
    guard let model = copy() as? NSManagedObjectModel else { return nil }
    return model.entitiesByName[name].map { OwnedEntity(model: model, entity: $0) }
  }
}
