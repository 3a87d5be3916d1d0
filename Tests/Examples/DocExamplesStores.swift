import Foundation
import OpenCoreData
import SurfJournal

/// The examples in the doc comments of store classes and of keyed access, compiled. A change to an example changes both places.
private enum DocExamplesStores {
  // Unchecked: the coordinator calls a store on one queue at a time.
  final class FolderStore: NSIncrementalStore, @unchecked Sendable {}

  static func incremental(coordinator: NSPersistentStoreCoordinator, folder: URL) throws {
    NSPersistentStoreCoordinator.registerStoreClass(FolderStore.self, forStoreType: "Folder")
    try coordinator.addPersistentStore(ofType: "Folder", configurationName: nil, at: folder, options: nil)
  }

  static func atomic() {
    // Unchecked: the coordinator calls a store on one queue at a time.
    final class CSVStore: NSAtomicStore, @unchecked Sendable {
      override func load() throws { addCacheNodes(try readNodes()) }
      override func save() throws { try writeNodes(cacheNodes()) }
    }
    NSPersistentStoreCoordinator.registerStoreClass(CSVStore.self, forStoreType: "CSV")
  }

  static func valueForKeyPath(author: NSManagedObject) {
    let titles = author.value(forKeyPath: "works.title") as? NSSet
    let pages = author.value(forKeyPath: "works.@sum.pages") as? Int
    print(titles?.count ?? 0, pages ?? 0)
  }

  static func setValueForKeyPath(author: NSManagedObject) {
    author.setValue(true, forKeyPath: "works.isRead")
  }

  static func validationError(context: NSManagedObjectContext) throws {
    do {
      try context.save()
    } catch let error as CocoaError where error.code == .validationMissingMandatoryProperty {
      print("\(error.validationKey ?? "") is missing")
    }
  }

  static func changesOfAnEntity() {
    let sessions = NSPersistentHistoryChange.fetchRequest
    sessions?.predicate = NSPredicate(format: "changedEntity == %@", JournalEntry.entity())
  }
}

extension NSAtomicStore {
  fileprivate func readNodes() throws -> Set<NSAtomicStoreCacheNode> { [] }
  fileprivate func writeNodes(_ nodes: Set<NSAtomicStoreCacheNode>) throws {}
}
