import Foundation

/// What a transaction did to an object.
public enum NSPersistentHistoryChangeType: Int, Sendable {
  /// The object was inserted.
  case insert
  /// The object was updated.
  case update
  /// The object was deleted.
  case delete
}

/// The change of one object in a transaction. (Apple documentation: NSPersistentHistoryChange.)
open class NSPersistentHistoryChange: NSObject, NSFetchRequestResult {
  /// The number of the change in the store's history, in ascending order.
  public let changeID: Int64
  /// The ID of the object that was changed.
  public let changedObjectID: NSManagedObjectID
  /// Whether the object was inserted, updated or deleted.
  public let changeType: NSPersistentHistoryChangeType
  /// What a deletion keeps: the values of the attributes with `preservesValueInHistoryOnDeletion`, by name. Nil without
  /// any.
  public let tombstone: [AnyHashable: Any]?
  /// What an update changed. Nil for insertions and deletions, and where the row is of another version of the model.
  public let updatedProperties: Set<NSPropertyDescription>?
  /// Nil if the request asked for changes only, or once the transaction is released.
  public internal(set) weak var transaction: NSPersistentHistoryTransaction?

  init(_ change: HistoryChange) {
    let entity = change.id.entity
    changeID = change.number
    changedObjectID = change.id
    changeType = NSPersistentHistoryChangeType(rawValue: change.kind.rawValue) ?? .update
    let preserved = change.tombstone.compactMap { name, value -> (AnyHashable, Any)? in
      entity.attributesByName[name]?.foundationValue(from: value).map { (name, $0) }
    }
    tombstone = preserved.isEmpty ? nil : Dictionary(preserved, uniquingKeysWith: { first, _ in first })
    updatedProperties = change.updatedProperties.map { Set($0.compactMap { entity.propertiesByName[$0] }) }
  }

  /// The keys that a predicate of a history request can name. `changedEntity` is compared with an entity or its name.
  ///
  /// ```swift
  /// let sessions = NSPersistentHistoryChange.fetchRequest
  /// sessions?.predicate = NSPredicate(format: "changedEntity == %@", JournalEntry.entity())
  /// ```
  public class var entityDescription: NSEntityDescription? {
    HistoryEntity.description(
      "Change",
      [
        ("changeType", .integer32AttributeType), ("changedEntity", .stringAttributeType),
        ("changedID", .integer64AttributeType), ("changedObjectID", .objectIDAttributeType),
      ])
  }

  /// The same description for every context.
  public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
    entityDescription
  }

  /// A request for `NSPersistentHistoryChangeRequest.fetchHistory(withFetch:)`.
  public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    HistoryEntity.request(entityDescription)
  }

  /// The values that predicates and sort descriptors see.
  var values: NSDictionary {
    [
      "changeType": NSNumber(value: changeType.rawValue), "changedEntity": changedObjectID.entity.name ?? "",
      "changedID": NSNumber(value: changeID), "changedObjectID": changedObjectID,
    ]
  }
}
