import Foundation
import OpenCoreData
import PipelineEngine

/// Changes on a scratch pad: a child of the main context, of which nobody knows until they are saved.
///
/// Save it or discard it once; one that is let go of is discarded.
public final class JournalEdit: Sendable {
  /// An entry before and after; nil where it is not there.
  public struct Entry: Sendable, Hashable {
    public let before: JournalRecord?
    public internal(set) var after: JournalRecord?
    let objectID: NSManagedObjectID

    init(_ objectID: NSManagedObjectID, before: JournalRecord?, after: JournalRecord?) {
      self.objectID = objectID
      self.before = before
      self.after = after
    }

    /// The attributes whose values differ.
    public var changedAttributes: [String] {
      JournalRecord.attributes.filter { before?[$0] ?? .none != after?[$0] ?? .none }
    }

    /// Whether saving it changes nothing.
    public var isUnchanged: Bool { before == after }
  }

  /// In the order in which they were named.
  public let entries: [Entry]
  private let editor: JournalEditor
  private let stack: CoreDataStack
  private let scratch: NSManagedObjectContext

  init(
    editor: JournalEditor, stack: CoreDataStack, scratch: NSManagedObjectContext, entries: [Entry]
  ) {
    self.editor = editor
    self.stack = stack
    self.scratch = scratch
    self.entries = entries
  }

  /// Whether saving would change nothing.
  public var isEmpty: Bool { entries.allSatisfy(\.isUnchanged) }

  /// Saves the scratch pad to the main context, that to the writer context, that to the store, and waits for the disk.
  /// The store's lock is held only meanwhile; an import that holds it is not waited for.
  ///
  /// - Returns: The entries as they are stored now, new ones with their IDs.
  /// - Throws: `JournalError`: `.locked`, `.conflict` where somebody else changed an entry after it was read,
  ///   `.invalidEntry`, `.storeUnusable`. Nothing of the edit is in the store then.
  @discardableResult
  public func save() throws(JournalError) -> [Entry] {
    precondition(!editor.isDryRun, "an edit of a dry run is not saved; make it with an editor that isn't one")
    let lock: RunLock
    do throws(RunFailure) {
      lock = try RunLock(storePath: editor.store, pipeline: "edit by hand", now: Date())
    } catch {
      throw JournalError(
        error.exitCode == .temporaryFailure ? .locked : .storeUnusable, exitCode: error.exitCode, error.message)
    }
    defer { lock.release() }
    defer { stack.close() }
    do {
      try stack.open()
      try scratch.performAndWait { try scratch.save() }
      try stack.saveContext()
    } catch {
      throw JournalError(saving: error, path: editor.store)
    }
    try waitForDisk()
    return scratch.performAndWait {
      entries.map { entry in
        var entry = entry
        // An object knows its permanent ID; the one that was noted before stays temporary.
        entry.after?.identify(scratch.object(with: entry.objectID).objectID)
        return entry
      }
    }
  }

  private func waitForDisk() throws(JournalError) {
    do {
      try stack.storeContainer.persistentStoreCoordinator.checkpoint()
    } catch {
      throw JournalError(
        .storeUnusable, exitCode: .ioError,
        "the entry is saved, but \(editor.store) may not be on the disk yet: \(error.localizedDescription)")
    }
  }

  /// Throws the scratch pad away and lets go of the store.
  public func discard() {
    scratch.performAndWait { scratch.reset() }
    stack.close()
  }
}
