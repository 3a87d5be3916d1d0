import Foundation

/// A row that differs from the one that an object's unsaved change is based on. (Apple documentation: NSMergeConflict.)
///
/// Snapshots have the values of attributes by name, and of each to-one relationship the ID of the object that it leads to;
/// NSNull stands for nil.
public final class NSMergeConflict: NSObject {
  /// The object of the saving context.
  public let sourceObject: NSManagedObject
  /// The object's values, including unsaved changes.
  public let objectSnapshot: [String: Any]?
  /// The values that the context read before the changes were made, without relationships that it has not read.
  public let cachedSnapshot: [String: Any]?
  /// The values in the store now; nil if the row is gone.
  public let persistedSnapshot: [String: Any]?
  /// The row's version (`Z_OPT`) now; 0 if it is gone.
  public let newVersionNumber: Int
  /// The version that the change is based on.
  public let oldVersionNumber: Int

  /// The store's row in its stored form.
  let persisted: FetchedRow?

  /// Apple's initialiser, for merge policies that make conflicts of their own.
  public init(
    source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
    cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
  ) {
    sourceObject = srcObject
    objectSnapshot = srcObject.shownValues(stored: [:])
    cachedSnapshot = cachesnap
    persistedSnapshot = persnap
    newVersionNumber = newvers
    oldVersionNumber = oldvers
    persisted = persnap.map { srcObject.row(version: Int64(newvers), values: $0) }
  }

  /// - Parameters:
  ///   - persisted: The store's row; nil if it is gone.
  ///   - links: What the row's to-one relationships lead to.
  init(_ object: NSManagedObject, persisted: FetchedRow?, links: [String: NSManagedObjectID?]) {
    sourceObject = object
    objectSnapshot = object.shownValues(stored: links)
    cachedSnapshot = object.readValues
    persistedSnapshot = persisted.map { $0.id.entity.valuesByName($0.values).adding(links) }
    newVersionNumber = Int(persisted?.version ?? 0)
    oldVersionNumber = Int(object.version)
    self.persisted = persisted
  }

  public override var description: String {
    "NSMergeConflict for \(sourceObject.objectID): oldVersion = \(oldVersionNumber), newVersion = \(newVersionNumber)"
  }
}

/// Objects with equal values that must be unique. (Apple documentation: NSConstraintConflict.)
public final class NSConstraintConflict: NSObject {
  /// The names of the attributes whose values together must be unique.
  public let constraint: [String]
  /// The values in question, by name.
  public let constraintValues: [String: Any]
  /// The stored object with these values; nil if only unsaved objects are in conflict.
  public let databaseObject: NSManagedObject?
  /// The values of the stored object, by the names of attributes; nil if there is no such object.
  public let databaseSnapshot: [String: Any]?
  /// The saving context's objects with these values, in order of insertion.
  public let conflictingObjects: [NSManagedObject]
  /// The values of the conflicting objects, a dictionary for each, in the order of `conflictingObjects`.
  public let conflictingSnapshots: [Any]

  /// A conflict of objects with equal values of a uniqueness constraint. Contexts make them; a test may make one for a
  /// merge policy. (Apple documentation: NSConstraintConflict.)
  ///
  /// - Parameters:
  ///   - contraint: The names of the constraint's attributes. (The misspelt name is Apple's.)
  ///   - databaseObject: The stored object with these values; nil if only unsaved objects are in conflict.
  ///   - databaseSnapshot: Its values by name.
  ///   - conflictingObjects: The saving context's objects with these values.
  ///   - conflictingSnapshots: Their values, in the same order.
  public init(
    constraint contraint: [String], database databaseObject: NSManagedObject?, databaseSnapshot: [String: Any]?,
    conflicting conflictingObjects: [NSManagedObject], conflictingSnapshots: [Any]
  ) {
    constraint = contraint
    self.databaseObject = databaseObject
    self.databaseSnapshot = databaseSnapshot
    self.conflictingObjects = conflictingObjects
    self.conflictingSnapshots = conflictingSnapshots
    let known = conflictingObjects.first.map { $0.entity.valuesByName($0.values) } ?? [:]
    constraintValues = known.filter { contraint.contains($0.key) }
  }

  public override var description: String {
    "NSConstraintConflict for constraint \(constraint): database: \(databaseObject?.objectID.description ?? "none"), "
      + "conflicting: \(conflictingObjects.map(\.objectID))"
  }
}

extension NSEntityDescription {
  /// Values in slot order as clients see them; NSNull stands for nil.
  func valuesByName(_ values: [StoredValue]) -> [String: Any] {
    var result: [String: Any] = [:]
    for (attribute, value) in zip(attributeSlots, values) {
      result[attribute.name] = attribute.foundationValue(from: value) ?? NSNull()
    }
    return result
  }
}

extension [String: Any] {
  fileprivate func adding(_ links: [String: NSManagedObjectID?]) -> [String: Any] {
    merging(links.mapValues { $0 ?? NSNull() }) { $1 }
  }
}

extension NSManagedObject {
  /// All values with the context's changes.
  ///
  /// - Parameter stored: What relationships that the context has neither read nor changed lead to.
  fileprivate func shownValues(stored: [String: NSManagedObjectID?]) -> [String: Any] {
    var links = stored.merging(readLinks) { $1 }
    for relationship in entity.storedToOnes {
      guard let changed = pending?.one[relationship.name] else { continue }
      links.updateValue(changed.flatMap { $0.isThere ? $0.objectID : nil }, forKey: relationship.name)
    }
    return entity.valuesByName(values).adding(links)
  }

  /// All values that the context had read before it changed any.
  fileprivate var readValues: [String: Any] { entity.valuesByName(snapshot ?? values).adding(readLinks) }

  private var readLinks: [String: NSManagedObjectID?] {
    var links: [String: NSManagedObjectID?] = [:]
    for relationship in entity.storedToOnes where isCommittedKnown(relationship) {
      let read = try? committedObjects(relationship).first?.objectID
      links.updateValue(read, forKey: relationship.name)
    }
    return links
  }

  /// A row of this object with `values` by name.
  fileprivate func row(version: Int64, values: [String: Any]) -> FetchedRow {
    let stored = entity.attributeSlots.indices.map { slot -> StoredValue in
      let value = values[entity.attributeSlots[slot].name]
      return self.stored(value is NSNull ? nil : value, slot)
    }
    return FetchedRow(id: objectID, version: version, values: stored)
  }
}
