import Foundation
import OpenCoreData

/// The examples in the doc comments of store classes, compiled. A change to an example changes both places.
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
}

extension NSAtomicStore {
  fileprivate func readNodes() throws -> Set<NSAtomicStoreCacheNode> { [] }
  fileprivate func writeNodes(_ nodes: Set<NSAtomicStoreCacheNode>) throws {}
}
