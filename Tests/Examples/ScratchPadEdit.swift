import Foundation
import OpenCoreData
import SurfJournal

/// Editing on a scratch pad: a child context holds the edits until they are saved up, or is discarded with them.
@MainActor final class ScratchPadEdit {
  let mainContext: NSManagedObjectContext
  let entry: JournalEntry
  private let scratchPad: NSManagedObjectContext

  /// Begins to edit `entry`, or a new one.
  init(_ entry: JournalEntry?, in mainContext: NSManagedObjectContext) {
    self.mainContext = mainContext
    scratchPad = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    scratchPad.parent = mainContext
    if let entry {
      // The same session, but another object: what is changed in it is seen nowhere else.
      self.entry = scratchPad.object(with: entry.objectID) as? JournalEntry ?? JournalEntry(context: scratchPad)
    } else {
      self.entry = JournalEntry(context: scratchPad)
    }
  }

  /// One level up, and on to the disk. To cancel, do nothing: the edits go with the scratch pad.
  func save() throws {
    guard scratchPad.hasChanges else { return }
    try scratchPad.save()
    try mainContext.save()
  }
}
