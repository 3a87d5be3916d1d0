import Foundation
import SystemSupport
@testable import OpenCoreData
import TestSupport
import Testing

// Rules (Apple documentation: UndoManager; "Introduction to Undo Architecture").

/// A text whose changes can be undone.
private final class Note {
  let manager = UndoManager()
  private(set) var text = ""

  init(groupsByEvent: Bool = false) { manager.groupsByEvent = groupsByEvent }

  func add(_ letters: String) {
    let before = text
    text += letters
    register(before)
  }

  private func register(_ before: String) {
    manager.registerUndo(withTarget: self) { note in
      let now = note.text
      note.text = before
      note.register(now)
    }
  }

  func group(_ body: () -> Void) {
    manager.beginUndoGrouping()
    body()
    manager.endUndoGrouping()
  }
}

@Suite("An undo manager takes groups of operations back")
struct UndoManagerTests {
  @Test("A group is taken back whole, its last operation first, and a redo makes it again")
  func groups() {
    let note = Note()
    #expect(!note.manager.canUndo && !note.manager.canRedo)
    note.group { "ab".forEach { note.add(String($0)) } }
    note.group { note.add("c") }
    note.manager.undo()
    #expect(note.text == "ab" && note.manager.canUndo && note.manager.canRedo)
    note.manager.undo()
    #expect(note.text.isEmpty && !note.manager.canUndo)
    note.manager.undo()
    note.manager.redo()
    #expect(note.text == "ab")
    note.manager.redo()
    #expect(note.text == "abc" && !note.manager.canRedo && note.manager.canUndo)
    note.manager.undo()
    #expect(note.text == "ab")
  }

  @Test("What is registered after an undo forgets what could be redone; an empty group does not")
  func branch() {
    let note = Note()
    note.group { note.add("a") }
    note.manager.undo()
    note.group {}
    #expect(note.manager.canRedo && !note.manager.canUndo)
    note.group { note.add("b") }
    #expect(!note.manager.canRedo)
    note.manager.redo()
    #expect(note.text == "b")
  }

  @Test("A nested group is taken back with the outer one, or alone while that is open")
  func nested() {
    let note = Note()
    note.manager.beginUndoGrouping()
    note.add("a")
    note.group { note.add("b") }
    note.group { note.add("c") }
    #expect(note.manager.groupingLevel == 1)
    note.manager.undoNestedGroup()
    #expect(note.text == "ab" && note.manager.canRedo)
    note.manager.endUndoGrouping()
    note.manager.undo()
    #expect(note.text.isEmpty && note.manager.groupingLevel == 0)
    note.manager.redo()
    note.manager.redo()
    #expect(note.text == "abc")
  }

  @Test("Without groups by event the group that is open is ended by an undo")
  func openGroup() {
    let note = Note()
    note.manager.beginUndoGrouping()
    note.add("a")
    note.manager.undo()
    #expect(note.text.isEmpty && note.manager.groupingLevel == 0)
  }

  @Test("Only so many groups are kept, and a lower limit drops the oldest at once")
  func levels() {
    let note = Note()
    for letter in "abcde" { note.group { note.add(String(letter)) } }
    note.manager.levelsOfUndo = 3
    note.group { note.add("f") }
    for _ in 0..<5 { note.manager.undo() }
    #expect(note.text == "abc")
    note.manager.levelsOfUndo = 1
    for _ in 0..<5 { note.manager.redo() }
    #expect(note.text == "abcd")
  }

  @Test("Nothing is recorded until recording was enabled as often as it was disabled")
  func disabled() {
    let note = Note()
    note.manager.disableUndoRegistration()
    note.manager.disableUndoRegistration()
    note.group { note.add("a") }
    note.manager.enableUndoRegistration()
    #expect(!note.manager.isUndoRegistrationEnabled)
    note.group { note.add("b") }
    note.manager.enableUndoRegistration()
    note.group { note.add("c") }
    note.manager.undo()
    note.manager.undo()
    #expect(note.text == "ab")
  }

  @Test("A target's operations can be forgotten, are not kept alive by it, and do nothing once it is gone")
  func targets() {
    let manager = UndoManager()
    manager.groupsByEvent = false
    final class Target {}
    let calls = Locked<[String]>([])
    let kept = Target()
    var gone: Target? = Target()
    weak let observed = gone
    manager.beginUndoGrouping()
    manager.registerUndo(withTarget: kept) { _ in calls.withLock { $0.append("kept") } }
    if let gone { manager.registerUndo(withTarget: gone) { _ in calls.withLock { $0.append("gone") } } }
    gone = nil
    #expect(observed == nil)
    manager.endUndoGrouping()
    manager.undo()
    #expect(calls.withLock { $0 } == ["kept"])
    manager.beginUndoGrouping()
    manager.registerUndo(withTarget: kept) { _ in }
    manager.endUndoGrouping()
    manager.removeAllActions(withTarget: kept)
    #expect(!manager.canUndo)
  }

  @Test("A name goes with its group to the redos and back; so does whether it may be lost")
  func names() {
    let note = Note()
    note.group {
      note.add("a")
      note.manager.setActionName("Typing")
      note.manager.setActionIsDiscardable(true)
    }
    note.group { note.add("b") }
    #expect(note.manager.undoActionName.isEmpty && note.manager.undoMenuItemTitle == "Undo")
    note.manager.undo()
    #expect(note.manager.undoMenuItemTitle == "Undo Typing" && note.manager.undoActionIsDiscardable)
    note.manager.undo()
    #expect(note.manager.redoActionName == "Typing" && note.manager.redoActionIsDiscardable)
    #expect(note.manager.redoMenuItemTitle == "Redo Typing" && note.manager.undoActionName.isEmpty)
    note.manager.redo()
    #expect(note.manager.undoActionName == "Typing")
  }

  @Test("Groups by event: what one turn of the main queue registers is one group")
  @MainActor
  func events() async {
    let note = Note(groupsByEvent: true)
    func turn() async {
      await withCheckedContinuation { turn in DispatchQueue.main.async { turn.resume() } }
    }
    note.add("a")
    note.add("b")
    #expect(note.manager.groupingLevel == 1)
    await turn()
    #expect(note.manager.groupingLevel == 0)
    note.group { note.add("c") }
    note.group { note.add("d") }
    await turn()
    note.add("e")
    note.manager.undo()
    #expect(note.text == "abcd")
    note.manager.undo()
    #expect(note.text == "ab")
    note.manager.undo()
    #expect(note.text.isEmpty)
  }

  @Test("Notifications tell of groups, undos and redos, with a checkpoint before each")
  func notifications() {
    let note = Note()
    let names: [Notification.Name] = [
      .NSUndoManagerCheckpoint, .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerWillCloseUndoGroup,
      .NSUndoManagerDidCloseUndoGroup, .NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange,
      .NSUndoManagerWillRedoChange, .NSUndoManagerDidRedoChange,
    ]
    let posted = Locked<[String]>([])
    let observers = names.map { name in
      NotificationCenter.default.addObserver(forName: name, object: note.manager, queue: nil) { notification in
        let name = notification.name.rawValue
        posted.withLock {
          $0.append(name.replacing("NSUndoManager", with: "").replacing("Notification", with: ""))
        }
      }
    }
    defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
    func taken() -> [String] {
      posted.withLock { all in
        defer { all = [] }
        return all
      }
    }
    note.group { note.add("a") }
    #expect(taken() == ["Checkpoint", "DidOpenUndoGroup", "Checkpoint", "WillCloseUndoGroup", "DidCloseUndoGroup"])
    note.manager.undo()
    let undo = taken()
    #expect(undo.first == "Checkpoint" && undo.last == "DidUndoChange" && undo.contains("WillUndoChange"))
    note.manager.redo()
    let redo = taken()
    #expect(redo.first == "Checkpoint" && redo.last == "DidRedoChange" && redo.contains("WillRedoChange"))
  }
}
