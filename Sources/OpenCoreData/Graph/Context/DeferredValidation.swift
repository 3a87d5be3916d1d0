import ManagedObjectModel
import PersistentStores

/// What a context has saved without refusing anything: which entities may have a row that breaks a rule about attributes.
///
/// New rows are checked in their packed values. An entity may have such a row if one of them breaks a rule, if an object of
/// it was changed after it was saved, or if others have written to the store.
final class DeferredValidation {
  private var entities: Set<ObjectIdentifier> = []
  private var knowsAllWrites = true
  private var writesSeen: Int64 = 0

  /// Notes what a context is about to save.
  func note(_ graph: ObjectGraph) {
    for segment in graph.insertions.segments where !entities.contains(ObjectIdentifier(segment.entity)) {
      segment.pack()
      let isValid =
        segment.entity.storesWhatIsChecked
        && segment.invalidRows(toleratingMissingRelationships: true, graph.insertions.deferredLinks).isEmpty
      if !isValid { entities.insert(ObjectIdentifier(segment.entity)) }
    }
    for object in graph.updates.values { entities.insert(ObjectIdentifier(object.entity)) }
  }

  /// Carries out one write to the store of the context, and notes whether there were others since the last one.
  func write<Result>(to store: (any RowStore)?, _ body: () throws -> Result) rethrows -> Result {
    let before = store?.writeCount ?? -1
    if before != writesSeen { knowsAllWrites = false }
    defer {
      writesSeen = store?.writeCount ?? -1
      if writesSeen > before + 1 { knowsAllWrites = false }
    }
    return try body()
  }

  /// Whether the rows of an entity have to be read to find those that break a rule about an attribute.
  func mayBreakRules(_ entity: NSEntityDescription, in store: (any RowStore)?) -> Bool {
    !knowsAllWrites || store?.writeCount != writesSeen || entities.contains(ObjectIdentifier(entity))
  }
}

extension NSEntityDescription {
  /// Whether the rows of a store have just the values that are checked before a save. Numbers with many decimal places
  /// are rounded, derived values are computed by the store, and transient ones are not stored.
  fileprivate var storesWhatIsChecked: Bool {
    attributeSlots.allSatisfy { attribute in
      !attribute.isTransient && !(attribute is NSDerivedAttributeDescription)
        && !(attribute.attributeType == .decimalAttributeType && attribute.hasRules)
    }
  }
}
