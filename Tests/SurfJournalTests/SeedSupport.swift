import Foundation
import OpenCoreData
import SurfJournal
import TestSupport
import Testing

/// Seeds to launch with.
enum Seeds {
  static let suffixes = ["", "-wal", "-shm"]

  /// A store of as many entries at `place`, all of its rows still in its -wal, as an app leaves it that is ended.
  static func make(_ name: String, entries: Int, place: String = "Rincon", in folder: TemporaryFolder) throws -> URL {
    let made = URL(fileURLWithPath: folder.path("\(name)-made/SurfJournalModel.sqlite"))
    let stack = CoreDataStack(store: made)
    try stack.open()
    try stack.storeContainer.persistentStoreCoordinator.checkpoint()
    let context = stack.mainContext
    context.performAndWait {
      for rating in 0..<entries {
        let entry = JournalEntry(context: context)
        entry.location = place
        entry.rating = NSNumber(value: rating % 5 + 1)
      }
    }
    try stack.saveContext()
    let seed = URL(fileURLWithPath: folder.path("\(name)/SurfJournalModel.sqlite"))
    try FileManager.default.createDirectory(
      at: seed.deletingLastPathComponent(), withIntermediateDirectories: true)
    // While the stack is open: closing it would write the log into the store.
    for suffix in suffixes { try FileManager.default.copyItem(atPath: made.path + suffix, toPath: seed.path + suffix) }
    stack.close()
    try FileManager.default.removeItem(at: made.deletingLastPathComponent())
    return seed
  }

  /// The places of the entries in the store that a launch in `directory` opens.
  static func places(_ stack: CoreDataStack) throws -> [String: Int] {
    let context = stack.storeContainer.newBackgroundContext()
    return try context.performAndWait {
      try context.fetch(JournalEntry.fetchRequest()).reduce(into: [:]) { $0[$1.location ?? "", default: 0] += 1 }
    }
  }

  /// A store that Apple's framework wrote. A plain clone lacks it.
  static let real = SharedFiles.journal.appendingPathComponent("SurfJournalModel.sqlite")

  static var isRealPresent: Bool { FileManager.default.fileExists(atPath: real.path) }
}
