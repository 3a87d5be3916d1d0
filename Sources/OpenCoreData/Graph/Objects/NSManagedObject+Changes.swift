import Foundation

/// Changes since the last save or fetch, or since the last event.
extension NSManagedObject {
  /// Stored properties changed since the last save or fetch, with their present values; NSNull stands for nil.
  /// Transient properties are not included.
  public func changedValues() -> [String: Any] {
    checkQueue()
    var result = valuesByName(values, slots: changedSlots.filter(isStored))
    for relationship in changedRelationships where !relationship.isTransient {
      result[relationship.name] = value(of: related(relationship), relationship) ?? NSNull()
    }
    return result
  }

  /// Stored properties changed since the context last posted ObjectsDidChange, with the values they had *then*; NSNull
  /// stands for nil. Observers of that notification still see the changes that it announces.
  public func changedValuesForCurrentEvent() -> [String: Any] {
    checkQueue()
    guard hasValues, let before = valuesBeforeEvent else { return [:] }
    return valuesByName(before, slots: slots(differingFrom: before).filter(isStored))
      .merging(relationshipsBeforeEvent) { $1 }
  }

  /// The values at the start of the present event, if some were set since.
  private var valuesBeforeEvent: [StoredValue]? {
    guard let graph = managedObjectContext?.graph else { return nil }
    if let auxiliary = auxiliaryIfPresent, let before = auxiliary.eventSnapshot,
      graph.eventClock.isCurrent(auxiliary.eventNumber)
    {
      return before
    }
    return state.contains(.written) && graph.hasInsertedInEvent(self) ? entity.layout.defaultValues : nil
  }

  /// The last saved or fetched values of the stored properties in `keys` (all of them when nil); NSNull stands for nil.
  /// Empty for an inserted object. Reads the relationships among them.
  public func committedValues(forKeys keys: [String]?) -> [String: Any] {
    checkQueue()
    if isInserted { return [:] }
    if isFault { fireFault() }
    let byName = entity.relationshipsByName
    let slots = keys.map { $0.filter { byName[$0] == nil }.map(slot) } ?? Array(values.indices)
    let relationships = keys.map { $0.compactMap { byName[$0] } } ?? Array(byName.values)
    return valuesByName(snapshot ?? values, slots: slots.filter(isStored))
      .merging(committedRelationships(relationships.filter { !$0.isTransient })) { $1 }
  }

  /// Whether a save would write a value that differs from the stored one.
  public var hasPersistentChangedValues: Bool {
    checkQueue()
    return changedSlots.contains(where: isStored) || changedRelationships.contains { !$0.isTransient }
  }

  /// Slots whose value differs from the committed one.
  var changedSlots: [Int] { snapshot.map(slots(differingFrom:)) ?? [] }

  /// Keeps the values from before a change: the committed ones, and those at the start of the event.
  func rememberValues(_ context: NSManagedObjectContext?) {
    if !hasSnapshot { snapshot = values }
    context?.graph.undo?.willChangeValues(of: self)
    guard let graph = context?.graph, auxiliary.eventNumber != graph.eventClock.number else { return }
    if graph.packedLinks.arePending { context?.linkDeferredOfEarlierEvents() }
    let isNew = state.contains(.fresh) && graph.isUnannounced(self)
    if state.contains(.fresh) { becomeWritten() }
    auxiliary.eventSnapshot = isNew ? entity.layout.defaultValues : values
    auxiliary.eventPending = auxiliary.pending
    auxiliary.eventNumber = graph.eventClock.number
  }

  func slots(differingFrom old: [StoredValue]) -> [Int] {
    let now = values
    // At once for copies of one array that neither has changed.
    if now == old { return [] }
    return now.indices.filter { now[$0] != old[$0] && !isEqualObject(old[$0], $0) }
  }

  /// Whether two archives of a transformable stand for equal objects: one dictionary has many archives.
  private func isEqualObject(_ old: StoredValue, _ slot: Int) -> Bool {
    let attribute = entity.attributeSlots[slot]
    guard attribute.attributeType == .transformableAttributeType,
      let before = attribute.foundationValue(from: old) as? NSObject,
      let now = attribute.foundationValue(from: values[slot]) as? NSObject
    else { return false }
    return before.isEqual(now)
  }

  private func isStored(_ slot: Int) -> Bool { !entity.attributeSlots[slot].isTransient }

  private func valuesByName(_ values: [StoredValue], slots: [Int]) -> [String: Any] {
    var result: [String: Any] = [:]
    for slot in slots {
      let attribute = entity.attributeSlots[slot]
      result[attribute.name] = attribute.foundationValue(from: values[slot]) ?? NSNull()
    }
    return result
  }
}

/// Counts a context's ObjectsDidChange notifications, so that objects can distinguish the changes of one event from
/// those of the previous one without being visited at its end.
struct EventClock {
  /// The number of the present event. Objects begin with 0, which never is the number of an event.
  private(set) var number: UInt64 = 1
  private var isAnnouncing = false

  /// Begins the next event; the previous one stays visible to the observers that are being notified of it.
  mutating func tick() -> EventClock {
    let before = self
    number += 1
    isAnnouncing = true
    return before
  }

  /// Ends an announcement; an enclosing one continues.
  mutating func endAnnouncement(_ before: EventClock) { isAnnouncing = before.isAnnouncing }

  func isCurrent(_ number: UInt64) -> Bool {
    number == self.number || isAnnouncing && number == self.number - 1
  }
}

extension NSManagedObject {
  /// The row that the object's changes are based on.
  var baseRow: BaseRow {
    if loaded == nil, !hasSnapshot, let rows = batchStorage?.shared {
      return BaseRow(version: version, rows, row: Int(row))
    }
    return BaseRow(version: version, values: snapshot ?? values, leftOut: leftOut)
  }

  /// The version of the values that a child context reads here: unknown while they are not in a store.
  var versionForChildren: Int64 { hasChanges ? BaseRow.unknownVersion : version }
}
