import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rule (article Migrating): a store of any version of a package is migrated to any other one, or refused as it was.

/// Two versions of one of the packages next to Apple's stores.
struct VersionPair: Sendable, CustomTestStringConvertible {
  let package: URL
  let old: String
  let new: String
  var testDescription: String { "\(package.deletingPathExtension().lastPathComponent): \(old) to \(new)" }

  /// Every ordered pair of each package.
  static let all: [VersionPair] = [1, 2, 4].flatMap { index -> [VersionPair] in
    let package = SharedStore.all[index].modelURL.deletingLastPathComponent()
    let files = (try? FileManager.default.contentsOfDirectory(atPath: package.path)) ?? []
    let versions = files.filter { $0.hasSuffix(".xcdatamodel") }.sorted()
    return versions.flatMap { old in
      versions.filter { $0 != old }.map { VersionPair(package: package, old: old, new: $0) }
    }
  }

  func model(_ version: String) throws -> NSManagedObjectModel {
    try .load(contentsOf: package.appendingPathComponent(version))
  }
}

@Suite(
  "Stores of every version are migrated to every other version",
  .enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)))
struct MigrationPairTests {
  @Test("Values of attributes that stay are kept, or the store is refused as it was", arguments: VersionPair.all)
  func pair(pair: VersionPair) throws {
    let (old, new) = (try pair.model(pair.old), try pair.model(pair.new))
    let folder = try TemporaryFolder()
    let file = folder.file("Store.sqlite")
    try fill(file, old)
    let before = try sqlite(file, ".dump")
    let kept = try KeptAttribute.all(from: old, to: new)
    let values = try kept.map { try sqlite(file, $0.question(in: old, isOld: true)) }
    do {
      try MigrationBench.add(file, model: new, options: MigrationBench.options([old]))
    } catch {
      #expect(!(error as NSError).localizedDescription.isEmpty)
      #expect(try sqlite(file, ".dump") == before)
      #expect(Self.refused.contains(pair.testDescription), "\((error as NSError).localizedDescription)")
      return
    }
    #expect(!Self.refused.contains(pair.testDescription))
    for (attribute, found) in zip(kept, values) {
      #expect(try sqlite(file, attribute.question(in: new, isOld: false)) == found, "\(attribute.new)")
    }
    let fresh = folder.file("Fresh.sqlite")
    try MigrationBench.add(fresh, model: try pair.model(pair.new), options: nil)
    #expect(try sqlite(file, MigrationBench.layout) == sqlite(fresh, MigrationBench.layout))
  }

  /// Pairs that need a mapping model: the new version has a mandatory attribute without a default value, or a mandatory
  /// relationship.
  private static let refused: Set<String> = [
    "SampleModel: SampleModel2.xcdatamodel to SampleModel.xcdatamodel",
    "SampleModel: SampleModel3.xcdatamodel to SampleModel.xcdatamodel",
    "CoreDataMigration_Example: CoreDataMigration_Example.xcdatamodel to CoreDataMigration_Example 3.xcdatamodel",
    "CoreDataMigration_Example: CoreDataMigration_Example.xcdatamodel to CoreDataMigration_Example 4.xcdatamodel",
    "CoreDataMigration_Example: CoreDataMigration_Example 2.xcdatamodel to CoreDataMigration_Example 3.xcdatamodel",
    "CoreDataMigration_Example: CoreDataMigration_Example 2.xcdatamodel to CoreDataMigration_Example 4.xcdatamodel",
  ]

  /// Three objects of each entity with values, linked at random.
  private func fill(_ file: URL, _ model: NSManagedObjectModel) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let objects = model.entities.filter { !$0.isAbstract }.flatMap { entity in
        (0..<3).map { _ in NSManagedObject(entity: entity, insertInto: context) }
      }
      for (number, object) in objects.enumerated() {
        for (name, attribute) in object.entity.attributesByName where !attribute.isTransient {
          if let value = attribute.attributeType.value(number) { object.setValue(value, forKey: name) }
        }
        for (name, relationship) in object.entity.relationshipsByName where !relationship.isToMany {
          let others = objects.filter { relationship.destinationEntity.map($0.entity.isKindOf) ?? false }
          if !others.isEmpty { object.setValue(others[number % others.count], forKey: name) }
        }
      }
      try context.save()
    }
    try coordinator.remove(store)
  }
}

/// An attribute of the same type in both versions, found as an inferred mapping finds it.
private struct KeptAttribute {
  let old: (entity: String, name: String)
  let new: (entity: String, name: String)

  static func all(from old: NSManagedObjectModel, to new: NSManagedObjectModel) throws -> [KeptAttribute] {
    new.entities.flatMap { entity -> [KeptAttribute] in
      guard let source = old.entitiesByName[entity.renamingIdentifier ?? ""] ?? old.entitiesByName[entity.name ?? ""]
      else { return [] }
      return entity.attributesByName.values.compactMap { attribute in
        let origin =
          source.attributesByName[attribute.renamingIdentifier ?? ""] ?? source.attributesByName[attribute.name]
        guard let origin, !attribute.isTransient, !origin.isTransient, origin.attributeType == attribute.attributeType,
          attribute.attributeType != .transformableAttributeType
        else { return nil }
        return KeptAttribute(old: (source.name ?? "", origin.name), new: (entity.name ?? "", attribute.name))
      }
    }
  }

  /// The SQL that reads the values of all objects.
  func question(in model: NSManagedObjectModel, isOld: Bool) throws -> String {
    let (entity, name) = isOld ? old : new
    let schema = try SQLSchema(model: model)
    let found = try #require(schema.entity(named: entity))
    let slot = try #require(model.entitiesByName[entity]?.slot(named: name))
    let column = try #require(found.attributeColumns[slot]?.name)
    return "SELECT Z_PK, quote(\(column)) FROM \(found.tableName) WHERE Z_ENT = \(found.number) ORDER BY Z_PK"
  }
}

extension NSAttributeType {
  /// A value of the type that a number stands for; nil for types that the packages do not have.
  fileprivate func value(_ number: Int) -> Any? {
    switch self {
    case .stringAttributeType: "text \(number)"
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: number
    case .doubleAttributeType, .floatAttributeType: Double(number) + 0.5
    case .decimalAttributeType: NSDecimalNumber(value: number)
    case .booleanAttributeType: number.isMultiple(of: 2)
    case .dateAttributeType: Date(timeIntervalSinceReferenceDate: Double(number) * 1000)
    case .binaryDataAttributeType: Data([UInt8(number)])
    case .UUIDAttributeType: UUID()
    case .URIAttributeType: URL(string: "https://example.org/\(number)")
    default: nil
    }
  }
}
