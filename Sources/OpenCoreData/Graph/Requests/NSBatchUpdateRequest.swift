import Foundation

/// What the result of a batch update contains.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
  case statusOnlyResultType
  case updatedObjectIDsResultType
  case updatedObjectsCountResultType
}

/// Sets attributes of rows in the store without contexts: no validation and no notifications. Versions grow by one, so
/// that a context which still has the old values detects a conflict. (Apple documentation: NSBatchUpdateRequest.)
///
/// ```swift
/// let request = NSBatchUpdateRequest(entityName: "JournalEntry")
/// request.predicate = NSPredicate(format: "location == %@", "Rincon Point")
/// request.propertiesToUpdate = ["location": "Rincon"]
/// try context.execute(request)
/// ```
open class NSBatchUpdateRequest: NSPersistentStoreRequest, ContextRequest {
  /// The entity that the request was made with; nil if it was given by name.
  public let entity: NSEntityDescription?
  public let entityName: String
  open var predicate: NSPredicate?
  open var includesSubentities = true
  /// By attribute, as a name or a description: the new value, of the attribute's type; NSNull for nil.
  open var propertiesToUpdate: [AnyHashable: Any]?
  open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType
  open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

  public init(entityName: String) {
    entity = nil
    self.entityName = entityName
  }

  public init(entity: NSEntityDescription) {
    self.entity = entity
    entityName = entity.name ?? ""
  }

  func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let coordinator = try context.requireCoordinator()
    let request = NSFetchRequest<NSManagedObjectID>(entityName: entityName)
    request.entity = entity
    request.predicate = predicate
    request.includesSubentities = includesSubentities
    request.affectedStores = affectedStores
    let query = try request.query(model: context.model)
    let values = try newValues(query.entity)
    let outcome = try coordinator.writeToStores(query.affectedStores, keeping: query.entity, for: context.changeOrigin)
    {
      try $0.batchUpdate(query, values: values, wantsIDs: resultType == .updatedObjectIDsResultType)
    }.joined
    switch resultType {
    case .statusOnlyResultType: return NSBatchUpdateResult(resultType, true)
    case .updatedObjectIDsResultType: return NSBatchUpdateResult(resultType, outcome.ids)
    case .updatedObjectsCountResultType: return NSBatchUpdateResult(resultType, outcome.count)
    }
  }

  private func newValues(_ entity: NSEntityDescription) throws -> [Int: StoredValue] {
    guard let propertiesToUpdate, !propertiesToUpdate.isEmpty else {
      throw NSError.coreData(
        .coreData, "The batch update of \(entityName) sets nothing. Name attributes in propertiesToUpdate.")
    }
    var values: [Int: StoredValue] = [:]
    for (property, value) in propertiesToUpdate {
      let name = (property.base as? NSPropertyDescription)?.name ?? property.base as? String ?? "\(property)"
      let (slot, stored) = try entity.batchValue(value, forKey: name)
      values[slot] = stored
    }
    return values
  }
}

/// The result of a batch update. (Apple documentation: NSBatchUpdateResult.)
open class NSBatchUpdateResult: NSPersistentStoreResult {
  public let resultType: NSBatchUpdateRequestResultType
  /// True, the `[NSManagedObjectID]` of the updated objects, or their number (`Int`).
  public let result: Any?

  init(_ resultType: NSBatchUpdateRequestResultType, _ result: Any?) {
    self.resultType = resultType
    self.result = result
  }
}

extension NSEntityDescription {
  /// A value that a batch request gives to an attribute.
  ///
  /// - Throws: `NSError` 134060 for a name that is not a stored attribute, or for a value of another type.
  func batchValue(_ value: Any?, forKey name: String) throws -> (slot: Int, value: StoredValue) {
    guard let slot = slot(named: name) else { throw EntityPredicateSchema.unknown([name], in: self) }
    let attribute = attributeSlots[slot]
    guard !attribute.isTransient else {
      throw NSError.coreData(
        .coreData,
        "The attribute \(name) of \(self.name ?? "") is transient: a batch request can't store it. Leave it out.")
    }
    guard let stored = attribute.encodedValue(from: value) else {
      throw NSError.coreData(
        .coreData,
        "The value \(value.map { "\($0)" } ?? "nil") is of the type \(value.map { "\(type(of: $0))" } ?? "nil"), which "
          + "does not fit the attribute \(name) of \(self.name ?? ""). Give a value of the attribute's type.")
    }
    return (slot, stored)
  }
}
