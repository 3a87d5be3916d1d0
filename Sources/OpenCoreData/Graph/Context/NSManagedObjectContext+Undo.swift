import Foundation

/// Taking changes back. (Apple documentation: Core Data Programming Guide, "Change Management"; UndoManager.)
///
/// What an event has changed is one operation of the undo manager, registered when pending changes are processed.
extension NSManagedObjectContext {
  /// Takes back the changes of the last group, including those that were saved since: these are pending then. Does
  /// nothing without an undo manager. (Apple documentation: undo().)
  ///
  /// ```swift
  /// context.undoManager = UndoManager()
  /// context.delete(entry)
  /// context.undo()  // the entry and all that the deletion has changed are back
  /// ```
  public func undo() {
    checkQueue()
    undoManager?.undo()
  }

  /// Makes the changes again that the last undo took back. (Apple documentation: redo().)
  public func redo() {
    checkQueue()
    undoManager?.redo()
  }

  // MARK: Recording

  func startRecording() {
    guard let undoManager else { return }
    linkPackedRows()
    graph.undo = UndoRecorder()
    checkpointObserver = NotificationCenter.default.addObserver(
      forName: .NSUndoManagerCheckpoint, object: undoManager, queue: nil
    ) { [weak self] _ in
      self?.performAndWait { self?.processPendingChanges() }
    }
  }

  func stopRecording(for undoManager: UndoManager?) {
    undoManager?.removeAllActions(withTarget: self)
    graph.undo = nil
    if let checkpointObserver { NotificationCenter.default.removeObserver(checkpointObserver) }
    checkpointObserver = nil
  }

  /// Registers what has changed since the last call.
  func registerUndo() {
    guard let recorder = graph.undo, let undoManager else { return }
    // After a failed read the save throws its error, and the next call registers the changes.
    guard let changes = try? recorder.take(), !changes.isEmpty, undoManager.isUndoRegistrationEnabled else { return }
    // The program groups changes itself, and did not group these.
    let isUngrouped = undoManager.groupingLevel == 0 && !undoManager.groupsByEvent
    if isUngrouped { undoManager.beginUndoGrouping() }
    undoManager.registerUndo(withTarget: self) { context in
      context.performAndWait { context.takeBack(changes) }
    }
    if isUngrouped { undoManager.endUndoGrouping() }
  }

  /// From here on changes come from elsewhere, such as the store, and can't be undone.
  func pauseUndo() {
    registerUndo()
    graph.undo?.pause()
  }

  func resumeUndo() { graph.undo?.resume() }

  // MARK: Taking back

  private func takeBack(_ changes: [ObjectUndo]) {
    let gone = changes.filter { $0.wasThere == true && undelete($0.object) }
    let reinserted = gone.filter { reinsert($0) }
    let objects = changes.filter { $0.wasThere != false && isInUse($0.object) }
    for change in objects where !change.changedValues.isEmpty {
      let values = change.changedValues
      change.object.setStoredValues(at: values.keys) { values[$0] ?? .null }
    }
    let inserted = Set(reinserted.map(\.object))
    takeBackRelationships(
      objects.map { change in
        (change.object, inserted.contains(change.object) ? change.whole?.relationships : change.relationships)
      }.compactMap { object, before in before.map { (object, $0) } })
    let removed = changes.filter { $0.wasThere == false }.map(\.object)
    remove(removed)
    for change in objects {
      graph.dropUpdateIfUnchanged(change.object)
      change.object.awake(after: change.wasThere == true ? .undoDeletion : .undoUpdate)
    }
    for object in removed { object.awake(after: .undoInsertion) }
    processPendingChanges()
  }

  /// Keeps an object whose deletion was not saved.
  ///
  /// - Returns: Whether the object has left the context.
  private func undelete(_ object: NSManagedObject) -> Bool {
    if object.managedObjectContext === self, !object.state.contains(.inaccessible) { _ = graph.undelete(object) }
    return object.managedObjectContext == nil
  }

  /// Inserts an object again that has left the context, into the store that it was in.
  private func reinsert(_ change: ObjectUndo) -> Bool {
    guard let whole = change.whole else { return false }
    let object = change.object
    let former = object.identity.reference
    object.beginAgain(with: whole.values)
    graph.insertAgain(object, in: self)
    guard case .temporary(let range, let row) = object.identity.reference else { return true }
    switch former {
    case .permanent(let store, _): range.assign(store, row: row)
    case .temporary(let before, let formerRow):
      if before !== range, let store = before.storeChosen(row: formerRow) { range.assign(store, row: row) }
    }
    return true
  }

  /// Whether the object can be changed. A fault is loaded.
  private func isInUse(_ object: NSManagedObject) -> Bool {
    guard object.managedObjectContext === self, !object.isDeleted else { return false }
    if object.isFault { object.fireFault() }
    return !object.isDeleted
  }

  /// Gives relationships what they had: first what leaves is removed, last comes the order.
  private func takeBackRelationships(_ changes: [(object: NSManagedObject, before: RelationshipsBefore)]) {
    func each<Before>(
      _ part: KeyPath<RelationshipsBefore, [String: Before]>,
      _ body: (NSManagedObject, NSRelationshipDescription, Before) -> Void
    ) {
      for (object, before) in changes {
        for (name, value) in before[keyPath: part].sorted(by: { String.byteOrder($0.key, $1.key) }) {
          if let relationship = object.entity.relationshipsByName[name] { body(object, relationship, value) }
        }
      }
    }
    each(\.added) { object, relationship, others in
      for other in others { object.removeRelated(other, relationship) }
    }
    each(\.removed) { object, relationship, others in
      for other in others where isInUse(other) { object.addRelated(other, relationship) }
    }
    each(\.one) { object, relationship, other in
      object.setRelated(other.flatMap { isInUse($0) ? $0 : nil }, relationship)
    }
    each(\.order) { object, relationship, others in
      let present = object.related(relationship)
      object.arrange(Self.merged(others, present), relationship)
    }
  }

  /// Removes objects from the context: those that were saved are deleted.
  private func remove(_ objects: [NSManagedObject]) {
    loadTogether(objects.filter { $0.managedObjectContext === self && !$0.isInserted })
    takeBackInsertions(of: objects.filter(isInUse))
  }
}
