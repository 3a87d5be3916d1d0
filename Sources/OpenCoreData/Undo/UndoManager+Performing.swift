import Foundation

/// Undoing, redoing, and the names of what can be undone.
extension UndoManager {
  // MARK: Performing

  /// Whether there is anything to undo. An open group may have to be ended first.
  public var canUndo: Bool { !undoStack.isEmpty || open.contains { !$0.isEmpty } }

  /// Whether there is anything to redo.
  public var canRedo: Bool {
    post(.NSUndoManagerCheckpoint)
    return !redoStack.isEmpty
  }

  /// Ends the group of the event and takes the last group back. Stops the program if another group is open.
  public func undo() {
    post(.NSUndoManagerCheckpoint)
    if open.count == 1 { endUndoGrouping() }
    precondition(open.isEmpty, "undo() was called while groups are open; end them, or call undoNestedGroup().")
    undoNestedGroup()
  }

  /// Takes the last group back, which may be in a group that is still open. Stops the program if something was
  /// registered in that one since.
  public func undoNestedGroup() {
    post(.NSUndoManagerCheckpoint)
    guard let group = open.last.map(lastGroup) ?? undoStack.popLast() else { return }
    post(.NSUndoManagerWillUndoChange)
    isUndoing = true
    let opposite = perform(group)
    isUndoing = false
    if !opposite.isEmpty { redoStack.append(opposite) }
    dropOldest()
    post(.NSUndoManagerDidUndoChange)
  }

  /// Takes the last undo back, if nothing was registered since.
  public func redo() {
    post(.NSUndoManagerCheckpoint)
    guard let group = redoStack.popLast() else { return }
    post(.NSUndoManagerWillRedoChange)
    isRedoing = true
    let opposite = perform(group)
    isRedoing = false
    if !opposite.isEmpty { undoStack.append(opposite) }
    dropOldest()
    post(.NSUndoManagerDidRedoChange)
  }

  private func lastGroup(of group: UndoGroup) -> UndoGroup? {
    if group.isEmpty { return nil }
    guard let last = group.removeLastGroup() else {
      preconditionFailure("undoNestedGroup() was called while the last group is open; end it first.")
    }
    return last
  }

  /// - Returns: What was registered meanwhile: what takes the group's operations back.
  private func perform(_ group: UndoGroup) -> UndoGroup {
    let outer = open
    open = []
    openGroup()
    group.perform()
    post(.NSUndoManagerCheckpoint)
    let opposite = open[0]
    open = outer
    opposite.name = group.name
    opposite.isDiscardable = group.isDiscardable
    return opposite
  }

  // MARK: Names

  /// Gives the group that is open, or the last one, the name of the user's action.
  public func setActionName(_ actionName: String) {
    // Contexts register what they have changed.
    post(.NSUndoManagerCheckpoint)
    (open.first ?? undoStack.last)?.name = actionName
  }

  /// The name of the action that the next undo takes back; empty if it has none.
  public var undoActionName: String { nextUndo?.name ?? "" }
  /// The name of the action that the next redo repeats; empty if it has none.
  public var redoActionName: String { redoStack.last?.name ?? "" }
  /// The title of a menu item for undoing, in English.
  public var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
  /// The title of a menu item for redoing, in English.
  public var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

  /// The title of a menu item for undoing the action, in English.
  public func undoMenuTitle(forUndoActionName actionName: String) -> String { Self.title("Undo", actionName) }
  /// The title of a menu item for redoing the action, in English.
  public func redoMenuTitle(forUndoActionName actionName: String) -> String { Self.title("Redo", actionName) }

  private static func title(_ word: String, _ name: String) -> String { name.isEmpty ? word : "\(word) \(name)" }

  /// Marks the group that is open, or the last one, as one that may be lost.
  public func setActionIsDiscardable(_ discardable: Bool) {
    post(.NSUndoManagerCheckpoint)
    (open.first ?? undoStack.last)?.isDiscardable = discardable
  }

  /// Whether the next undo was registered as discardable.
  public var undoActionIsDiscardable: Bool { nextUndo?.isDiscardable ?? false }
  /// Whether the next redo was registered as discardable.
  public var redoActionIsDiscardable: Bool { redoStack.last?.isDiscardable ?? false }

  private var nextUndo: UndoGroup? { open.first { !$0.isEmpty } ?? undoStack.last }
}
