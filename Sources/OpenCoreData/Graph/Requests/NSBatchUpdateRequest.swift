import Foundation

/// What the result of a batch update contains.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
  /// Whether it succeeded: `true`.
  case statusOnlyResultType
  /// The IDs of the updated objects.
  case updatedObjectIDsResultType
  /// The number of updated objects.
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
  /// The name of the entity whose objects are changed.
  public let entityName: String
  /// Which objects are changed; nil for all of the entity.
  open var predicate: NSPredicate?
  /// Whether objects of entities that inherit from the entity are changed too; true by default.
  open var includesSubentities = true
  /// By attribute, as a name or a description: the new value, of the attribute's type; NSNull for nil; an `NSExpression`
  /// for a value that is computed of each row as it was before.
  open var propertiesToUpdate: [AnyHashable: Any]?
  /// What the result contains: success (the default), the IDs of the changed objects, or their number.
  open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType
  open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

  /// A request for the entity with this name, which is looked up when the request is executed. (Apple documentation:
  /// init(entityName:).)
  public init(entityName: String) {
    entity = nil
    self.entityName = entityName
  }

  /// A request for the entity. (Apple documentation: init(entity:).)
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

  private func newValues(_ entity: NSEntityDescription) throws -> [Int: BatchValue] {
    guard let propertiesToUpdate, !propertiesToUpdate.isEmpty else {
      throw NSError.coreData(
        .coreData, "The batch update of \(entityName) sets nothing. Name attributes in propertiesToUpdate.")
    }
    var values: [Int: BatchValue] = [:]
    for (property, value) in propertiesToUpdate {
      let name = (property.base as? NSPropertyDescription)?.name ?? property.base as? String ?? "\(property)"
      if (entity.attributesByName[name] as? NSDerivedAttributeDescription)?.derivation != nil {
        throw NSError.coreData(
          .coreData, "The attribute \(name) of \(entityName) is derived: the store computes it. Leave it out.")
      }
      if let expression = value as? any PredicateExpressible {
        let (slot, bound) = try entity.batchExpression(expression.predicateOperand, forKey: name)
        values[slot] = .expression(bound)
      } else {
        let (slot, stored) = try entity.batchValue(value, forKey: name)
        values[slot] = .value(stored)
      }
    }
    return values
  }
}

/// The result of a batch update. (Apple documentation: NSBatchUpdateResult.)
open class NSBatchUpdateResult: NSPersistentStoreResult {
  /// What `result` contains.
  public let resultType: NSBatchUpdateRequestResultType
  /// True, the `[NSManagedObjectID]` of the updated objects, or their number (`Int`).
  public let result: Any?

  init(_ resultType: NSBatchUpdateRequestResultType, _ result: Any?) {
    self.resultType = resultType
    self.result = result
  }
}

extension NSEntityDescription {
  /// The slot of a stored attribute.
  ///
  /// - Throws: `NSError` 134060 for a name of something else.
  private func batchSlot(forKey name: String) throws -> Int {
    guard relationshipsByName[name] == nil else {
      throw NSError.coreData(
        .coreData,
        "\(name) of \(self.name ?? "") is a relationship, and a batch request sets attributes. Change it in a context.")
    }
    guard let slot = slot(named: name) else { throw EntityPredicateSchema.unknown([name], in: self) }
    guard !attributeSlots[slot].isTransient else {
      throw NSError.coreData(
        .coreData,
        "The attribute \(name) of \(self.name ?? "") is transient: a batch request can't store it. Leave it out.")
    }
    return slot
  }

  /// A value that a batch request gives to an attribute.
  ///
  /// - Throws: `NSError` 134060 for a name that is not a stored attribute, or for a value of another type.
  func batchValue(_ value: Any?, forKey name: String) throws -> (slot: Int, value: StoredValue) {
    let slot = try batchSlot(forKey: name)
    guard let stored = attributeSlots[slot].encodedValue(from: value) else {
      throw NSError.coreData(
        .coreData,
        "The value \(value.map { "\($0)" } ?? "nil") is of the type \(value.map { "\(type(of: $0))" } ?? "nil"), which "
          + "does not fit the attribute \(name) of \(self.name ?? ""). Give a value of the attribute's type.")
    }
    return (slot, stored)
  }

  /// What a batch update computes for an attribute.
  ///
  /// - Throws: `NSError` 134060 for a name that is not a stored attribute, and for an expression of another type.
  fileprivate func batchExpression(
    _ expression: PredicateOperand, forKey name: String
  ) throws -> (slot: Int, value: BoundExpression) {
    let slot = try batchSlot(forKey: name)
    let attribute = attributeSlots[slot]
    let bound = try expression.bound(to: EntityPredicateSchema(entity: self))
    try bound.checkTransformables(of: self, expression)
    guard bound.isNull || bound.type.converts(to: attribute.attributeType) else {
      throw NSError.coreData(
        .coreData,
        "The expression '\(expression.formatDescription)' gives \(bound.type.describedName), and the attribute \(name) of "
          + "\(self.name ?? "") is \(attribute.attributeType.describedName). CAST the expression.")
    }
    guard !attribute.allowsExternalBinaryDataStorage else {
      throw NSError.coreData(
        .coreData, "The values of \(name) may be in files, and can't be computed by the store. Set them in a context.")
    }
    return (slot, bound)
  }
}
