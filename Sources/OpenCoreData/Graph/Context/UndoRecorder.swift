/// Notes what the present event has changed, with what was there before: what an undo takes back.
///
/// Graph and objects report each change before they make it. What an undo changes is noted too, which gives the redo.
/// It belongs to its context's queue.
final class UndoRecorder {
  private var changes: [ObjectIdentifier: ObjectUndo] = [:]
  /// In the order of their first changes.
  private var inOrder: [ObjectUndo] = []
  private var pauses = 0

  /// While paused nothing is noted: changes come from elsewhere.
  func pause() { pauses += 1 }
  func resume() { pauses -= 1 }

  // MARK: Objects

  func noteInsertion(of object: NSManagedObject) { noteReturn(of: object) }
  func noteUndeletion(of object: NSManagedObject) { noteReturn(of: object) }

  private func noteReturn(of object: NSManagedObject) {
    guard let change = change(of: object) else { return }
    change.wasThere = change.wasThere == nil ? false : nil
  }

  /// The object is about to be deleted. One that was never saved leaves its context with that, so that what it has must
  /// be kept now.
  func noteDeletion(of object: NSManagedObject) {
    guard let change = change(of: object) else { return }
    if change.wasThere == false { return drop(change) }
    change.wasThere = true
    if object.isInserted { change.keepWhole() }
  }

  // MARK: Values

  func willChangeValues(of object: NSManagedObject) {
    guard let change = changeOfContent(of: object), change.values == nil else { return }
    change.values = object.values
  }

  /// A to-one relationship or the order of an ordered one is about to change.
  func willChange(_ relationship: NSRelationshipDescription, of object: NSManagedObject) {
    guard let change = changeOfContent(of: object) else { return }
    let name = relationship.name
    if !relationship.isToMany {
      if change.relationships.one[name] == nil {
        change.relationships.one.updateValue(object.related(relationship).first, forKey: name)
      }
    } else if relationship.isOrdered, change.relationships.order[name] == nil {
      change.relationships.order[name] = object.related(relationship)
    }
  }

  func willAdd(_ other: NSManagedObject, to relationship: NSRelationshipDescription, of object: NSManagedObject) {
    willChange(relationship, of: object)
    changeOfContent(of: object)?.relationships.noteAddition(of: other, relationship.name)
  }

  func willRemove(_ other: NSManagedObject, from relationship: NSRelationshipDescription, of object: NSManagedObject) {
    willChange(relationship, of: object)
    changeOfContent(of: object)?.relationships.noteRemoval(of: other, relationship.name)
  }

  // MARK: The end of the event

  /// Removes and returns what the event has changed; empty if that is nothing.
  ///
  /// - Throws: The store's error if a deleted object's relationships can't be read. The next call tries it again.
  func take() throws -> [ObjectUndo] {
    let taken = inOrder.filter { changes[ObjectIdentifier($0.object)] === $0 }
    try readTogether(taken.filter { $0.wasThere == true }.map(\.object))
    forget()
    for change in taken { change.finish() }
    return taken.filter { !$0.isEmpty }
  }

  func forget() {
    changes = [:]
    inOrder = []
  }

  /// Reads the relationships of deleted objects that their rules have not read.
  private func readTogether(_ objects: [NSManagedObject]) throws {
    for group in Dictionary(grouping: objects, by: { ObjectIdentifier($0.entity) }).values {
      for relationship in group[0].entity.relationshipsByName.values {
        try group[0].managedObjectContext?.readTogether(relationship, of: group.filter { !$0.isInserted })
      }
    }
  }

  // MARK: Noted changes

  private func change(of object: NSManagedObject) -> ObjectUndo? {
    if pauses > 0 { return nil }
    let key = ObjectIdentifier(object)
    if let known = changes[key] { return known }
    let change = ObjectUndo(object)
    changes[key] = change
    inOrder.append(change)
    return change
  }

  /// Nil for an object that an undo removes as a whole.
  private func changeOfContent(of object: NSManagedObject) -> ObjectUndo? {
    guard let change = change(of: object), change.wasThere != false else { return nil }
    return change
  }

  private func drop(_ change: ObjectUndo) { changes[ObjectIdentifier(change.object)] = nil }
}

/// What an undo has to take back of one object. It keeps the object alive.
final class ObjectUndo {
  let object: NSManagedObject
  /// Whether the object was there before the event; nil if that did not change.
  fileprivate(set) var wasThere: Bool?
  /// All values from before; nil if none has changed.
  fileprivate var values: [StoredValue]?
  /// The values that have changed, as they were.
  private(set) var changedValues: [Int: StoredValue] = [:]
  fileprivate(set) var relationships = RelationshipsBefore()
  /// What the object had before it was deleted: an undo after a save has to insert it again.
  private(set) var whole: (values: [StoredValue], relationships: RelationshipsBefore)?

  init(_ object: NSManagedObject) { self.object = object }

  var isEmpty: Bool { wasThere == nil && changedValues.isEmpty && relationships.isEmpty }

  fileprivate func keepWhole() {
    var all = RelationshipsBefore()
    for relationship in object.entity.relationshipsByName.values {
      all.keep(relationship, of: object, changed: relationships)
    }
    whole = (values ?? object.values, all)
  }

  fileprivate func finish() {
    if wasThere == false {
      relationships = RelationshipsBefore()
    } else if object.managedObjectContext != nil {
      if wasThere == true { keepWhole() }
      if let values, object.hasValues {
        for slot in object.slots(differingFrom: values) { changedValues[slot] = values[slot] }
      }
      relationships.leaveOutUnchanged(object)
    } else if wasThere == nil {
      relationships = RelationshipsBefore()
    }
    values = nil
  }
}

/// What relationships of an object had, by name.
struct RelationshipsBefore {
  var one: [String: NSManagedObject?] = [:]
  /// What to-many relationships did not have.
  private(set) var added: [String: Set<NSManagedObject>] = [:]
  /// What they had and have no more.
  private(set) var removed: [String: Set<NSManagedObject>] = [:]
  var order: [String: [NSManagedObject]] = [:]

  var isEmpty: Bool { one.isEmpty && added.isEmpty && removed.isEmpty && order.isEmpty }

  mutating func noteAddition(of object: NSManagedObject, _ name: String) {
    if removed[name]?.remove(object) == nil { added[name, default: []].insert(object) }
  }

  mutating func noteRemoval(of object: NSManagedObject, _ name: String) {
    if added[name]?.remove(object) == nil { removed[name, default: []].insert(object) }
  }

  /// Keeps all that the relationship of `object` had before `changed`.
  mutating func keep(
    _ relationship: NSRelationshipDescription, of object: NSManagedObject, changed: RelationshipsBefore
  ) {
    let name = relationship.name
    if !relationship.isToMany {
      one.updateValue(changed.one[name] ?? object.related(relationship).first, forKey: name)
      return
    }
    let now = Set(object.related(relationship))
    removed[name] = now.subtracting(changed.added[name] ?? []).union(changed.removed[name] ?? [])
    if relationship.isOrdered { order[name] = changed.order[name] ?? object.related(relationship) }
  }

  /// Leaves out what is as it was.
  mutating func leaveOutUnchanged(_ object: NSManagedObject) {
    let byName = object.entity.relationshipsByName
    one = one.filter { name, before in byName[name].map { object.related($0).first !== before } ?? false }
    order = order.filter { name, before in byName[name].map { object.related($0) != before } ?? false }
    added = added.filter { !$0.value.isEmpty }
    removed = removed.filter { !$0.value.isEmpty }
  }
}
