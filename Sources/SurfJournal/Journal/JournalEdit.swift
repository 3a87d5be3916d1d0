import Foundation
import OpenCoreData
import PipelineEngine

/// Changes on a scratch pad, a child of the main context; they are invisible to everything else until they are saved.
///
/// Save or discard an edit once. An edit that is released is discarded.
public final class JournalEdit: Sendable {
  /// An entry before and after the edit; nil if it does not exist.
  public struct Entry: Sendable, Hashable {
    /// The entry before the edit; nil for a new one.
    public let before: JournalRecord?
    /// The entry after the edit; nil for a deleted one.
    public internal(set) var after: JournalRecord?
    let objectID: NSManagedObjectID

    init(_ objectID: NSManagedObjectID, before: JournalRecord?, after: JournalRecord?) {
      self.objectID = objectID
      self.before = before
      self.after = after
    }

    /// The attributes whose values differ.
    public var changedAttributes: [String] {
      ((before ?? after)?.names ?? []).filter { before?[$0] ?? .none != after?[$0] ?? .none }
    }

    /// Whether saving it changes nothing.
    public var isUnchanged: Bool { before == after }
  }

  /// The entries in the order in which they were named.
  public let entries: [Entry]
  /// What a deletion does to other objects.
  package let effects: DeletionEffects
  /// What the store's write-ahead log lacks, as a power failure leaves it; nil if it lacks nothing.
  package let loss: String?
  private let editor: JournalEditor
  private let stack: CoreDataStack
  private let scratch: NSManagedObjectContext

  init(
    editor: JournalEditor, stack: CoreDataStack, scratch: NSManagedObjectContext, entries: [Entry],
    effects: DeletionEffects = DeletionEffects()
  ) {
    self.effects = effects
    loss = stack.loss
    self.editor = editor
    self.stack = stack
    self.scratch = scratch
    self.entries = entries
  }

  /// Whether saving would change nothing.
  public var isEmpty: Bool { entries.allSatisfy(\.isUnchanged) }

  /// Saves the scratch pad to the main context, that to the writer context, and that to the store, and waits for the
  /// disk. The store's lock is held only during the save; if an import holds it, the save fails at once.
  ///
  /// - Returns: The entries as stored, new ones with their IDs.
  /// - Throws: ``JournalError`` with the code `.locked`, `.conflict` if another program has changed an entry since it
  ///   was read, `.invalidEntry` or `.storeUnusable`. The store then contains none of the changes.
  @discardableResult
  public func save() throws(JournalError) -> [Entry] {
    // The caller's mistake: it has made the editor.
    precondition(!editor.isDryRun, "an edit of a dry run is not saved; make it with an editor that isn't one")
    let lock: StoreLock
    do throws(RunFailure) {
      lock = try StoreLock(
        editor.location, .journal, pipeline: "edit by hand", now: Date(), timeoutSeconds: editor.timeoutSeconds)
    } catch {
      throw JournalError(
        error.exitCode == .temporaryFailure ? .locked : .storeUnusable, exitCode: error.exitCode, error.message)
    }
    defer { lock.release() }
    defer { stack.close() }
    if let fence = lock.fence { stack.storeContainer.persistentStoreCoordinator.addSaveParticipant(fence) }
    do {
      try stack.open()
      try scratch.performAndWait { try scratch.throwingReadFailures { try scratch.save() } }
      try stack.saveContextOnce()
    } catch {
      throw JournalError(saving: error, path: editor.store)
    }
    try waitForDisk()
    return scratch.performAndWait {
      entries.map { entry in
        var entry = entry
        // The object has its permanent ID; the ID recorded before is still the temporary one.
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
        .storeUnusable, exitCode: RunFailure(store: error as NSError).exitCode,
        "the entry is saved, but \(editor.store) may not be on the disk yet: \(error.localizedDescription)")
    }
  }

  /// Discards the scratch pad and closes the store.
  public func discard() {
    scratch.performAndWait { scratch.reset() }
    stack.close()
  }
}
