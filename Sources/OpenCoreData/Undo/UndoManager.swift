import Foundation

/// Records operations that take changes back, in groups. Foundation has no such class on this platform. (Apple
/// documentation: UndoManager.)
///
/// A group is what one `undo()` takes back. Unless `groupsByEvent` is false, the first registration opens a group, which
/// ends with the event: on the main queue at the end of its turn, and for a context with a private queue
/// at the end of an asynchronous `perform` block. `undo()` ends it too.
///
/// A manager belongs to the queue of the context or the thread that uses it.
///
/// ```swift
/// let context = container.viewContext
/// context.undoManager = UndoManager()
/// entry.location = "Rincon"
/// context.undo()  // the former location is back
/// context.redo()
/// ```
open class UndoManager: NSObject {
  /// Whether groups are opened by registrations and end with the event. Default true.
  open var groupsByEvent = true
  /// How many groups can be undone; 0 for any number. Beyond that the oldest ones are dropped.
  open var levelsOfUndo = 0 { didSet { dropOldest() } }
  /// Whether an undo is being performed: what is registered now is for a redo.
  open internal(set) var isUndoing = false
  /// Whether a redo is being performed.
  open internal(set) var isRedoing = false

  /// The groups that are open, the top-level one first.
  var open: [UndoGroup] = []
  var undoStack: [UndoGroup] = []
  var redoStack: [UndoGroup] = []
  private var disableCount = 0

  public override init() {}

  // MARK: Groups

  /// The number of open groups, each in the one before it.
  open var groupingLevel: Int { open.count }

  /// Opens a group, which must be ended by `endUndoGrouping()`. With `groupsByEvent` the first one is opened in a group
  /// for the event.
  open func beginUndoGrouping() {
    if groupsByEvent { openEvent() }
    post(.NSUndoManagerCheckpoint)
    openGroup()
  }

  /// Ends the last group that was opened. A group in which nothing was registered is dropped. Stops the program if none
  /// is open.
  open func endUndoGrouping() {
    post(.NSUndoManagerCheckpoint)
    precondition(
      groupingLevel > (isUndoing || isRedoing ? 1 : 0), "endUndoGrouping() was called without beginUndoGrouping().")
    closeGroup()
  }

  /// Ends the group of the event, unless a group in it is still open.
  func endEvent() {
    guard groupsByEvent, open.count == 1, !isUndoing, !isRedoing else { return }
    post(.NSUndoManagerCheckpoint)
    closeGroup()
  }

  private func openEvent() {
    guard open.isEmpty else { return }
    openGroup()
    guard DispatchQueue.getSpecific(key: Self.mainKey) == true else { return }
    // Safe: the manager was used on the main queue, and the block runs there.
    nonisolated(unsafe) weak let manager = self
    DispatchQueue.main.async { manager?.endEvent() }
  }

  /// Only the main queue has a value for it.
  private static let mainKey: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  func openGroup() {
    open.append(UndoGroup())
    post(.NSUndoManagerDidOpenUndoGroup)
  }

  private func closeGroup() {
    guard let group = open.last else { return }
    let info = [NSUndoManagerGroupIsDiscardableKey: group.isDiscardable]
    post(.NSUndoManagerWillCloseUndoGroup, info)
    open.removeLast()
    if !group.isEmpty {
      if let outer = open.last {
        outer.add(group)
      } else {
        undoStack.append(group)
        dropOldest()
      }
    }
    post(.NSUndoManagerDidCloseUndoGroup, info)
  }

  func dropOldest() {
    guard levelsOfUndo > 0 else { return }
    undoStack.removeFirst(max(0, undoStack.count - levelsOfUndo))
    redoStack.removeFirst(max(0, redoStack.count - levelsOfUndo))
  }

  // MARK: Registering

  /// Whether operations are recorded now.
  open var isUndoRegistrationEnabled: Bool { disableCount == 0 }

  /// Records nothing until `enableUndoRegistration()` was called as often as this. A context records its changes at
  /// `processPendingChanges()`: call that first, and again before recording is enabled.
  open func disableUndoRegistration() { disableCount += 1 }

  /// Takes one call of `disableUndoRegistration()` back. Stops the program if there was none.
  open func enableUndoRegistration() {
    precondition(disableCount > 0, "enableUndoRegistration() was called without disableUndoRegistration().")
    disableCount -= 1
  }

  /// Records an operation in the open group. What can be redone is forgotten, unless an undo or redo is being performed.
  /// Stops the program if no group is open and `groupsByEvent` is false.
  ///
  /// - Parameters:
  ///   - target: What the operation changes. It is not kept alive; once it is gone the operation does nothing.
  ///   - handler: Takes the change back.
  open func registerUndo<Target: AnyObject>(withTarget target: Target, handler: @escaping (Target) -> Void) {
    guard isUndoRegistrationEnabled else { return }
    if groupsByEvent { openEvent() }
    guard let group = open.last else {
      preconditionFailure("An undo operation was registered without a group; call beginUndoGrouping() first.")
    }
    group.add(UndoOperation(target) { [weak target] in if let target { handler(target) } })
    if !isUndoing, !isRedoing { redoStack = [] }
  }

  // MARK: Forgetting

  /// Forgets every operation, also those of open groups, and enables recording.
  open func removeAllActions() {
    (undoStack, redoStack, disableCount) = ([], [], 0)
    for group in open { group.removeAll() }
  }

  /// Forgets the operations that were registered with `target`.
  open func removeAllActions(withTarget target: Any) {
    let target = ObjectIdentifier(target as AnyObject)
    for group in undoStack + redoStack + open { group.removeAll(of: target) }
    undoStack.removeAll(where: \.isEmpty)
    redoStack.removeAll(where: \.isEmpty)
  }

  func post(_ name: Notification.Name, _ info: [AnyHashable: Any]? = nil) {
    NotificationCenter.default.post(name: name, object: self, userInfo: info)
  }
}

extension Notification.Name {
  /// Posted before a client opens a group, before a group ends, before an undo or redo, and when `canRedo` is
  /// asked: observers register what they have not registered yet.
  public static let NSUndoManagerCheckpoint = Notification.Name("NSUndoManagerCheckpointNotification")
  /// Posted after a group was opened.
  public static let NSUndoManagerDidOpenUndoGroup = Notification.Name("NSUndoManagerDidOpenUndoGroupNotification")
  /// Posted before a group ends.
  public static let NSUndoManagerWillCloseUndoGroup = Notification.Name("NSUndoManagerWillCloseUndoGroupNotification")
  /// Posted after a group has ended.
  public static let NSUndoManagerDidCloseUndoGroup = Notification.Name("NSUndoManagerDidCloseUndoGroupNotification")
  /// Posted before an undo.
  public static let NSUndoManagerWillUndoChange = Notification.Name("NSUndoManagerWillUndoChangeNotification")
  /// Posted after an undo.
  public static let NSUndoManagerDidUndoChange = Notification.Name("NSUndoManagerDidUndoChangeNotification")
  /// Posted before a redo.
  public static let NSUndoManagerWillRedoChange = Notification.Name("NSUndoManagerWillRedoChangeNotification")
  /// Posted after a redo.
  public static let NSUndoManagerDidRedoChange = Notification.Name("NSUndoManagerDidRedoChangeNotification")
}

/// The key of a Boolean in the user info of the notifications about the end of a group: whether it is discardable.
public let NSUndoManagerGroupIsDiscardableKey = "NSUndoManagerGroupIsDiscardableKey"
