import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (docs/coredata-format.md, "External binary data"; decision 26): the folder of large values is named after the store
// without its extension, so that two stores can share it; a file that another store or reader may need stays.

@Suite("Folders of large values that several stores or readers use")
struct SharedValueFolderTests {
  private func coordinator(_ file: URL) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: PhotoStore.model())
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
    return coordinator
  }

  private func close(_ coordinator: NSPersistentStoreCoordinator) throws {
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// A store with one photo.
  private func filled() throws -> PhotoStore {
    let store = try PhotoStore()
    let context = store.stack.context()
    try context.performAndWait {
      store.insert(PhotoStore.photo(1), context)
      try context.save()
    }
    return store
  }

  @Test("A store whose name differs in its extension only: opening and destroying it leaves the other's files")
  func sameName() throws {
    let store = try filled()
    let files = store.files
    let other = store.folder.file("store.db")
    try close(coordinator(other))
    // A mark of the first store's save that is not finished: none of the second one's rows has the file.
    try FileManager.default.createDirectory(at: store.marks, withIntermediateDirectories: true)
    try Data().write(to: store.marks.appendingPathComponent(files[0]))
    let second = try coordinator(other)
    #expect(store.files == files && store.marked == files)
    try close(second)
    try second.destroyPersistentStore(at: other, ofType: NSSQLiteStoreType)
    #expect(try store.photos() == [1: PhotoStore.photo(1)])
  }

  @Test("A store is not copied over the files of another whose name differs in its extension only")
  func copyOverOther() throws {
    let (store, source) = (try filled(), try filled())
    let other = store.folder.file("store.db")
    try close(coordinator(other))
    try source.close()
    let refused: [(NSPersistentStoreCoordinator) throws -> Void] = [
      {
        try $0.replacePersistentStore(
          at: other, withPersistentStoreFrom: source.stack.file, ofType: NSSQLiteStoreType)
      },
      { coordinator in
        let opened = try coordinator.addPersistentStore(
          ofType: NSSQLiteStoreType, configurationName: nil, at: source.stack.file)
        try coordinator.migratePersistentStore(
          opened, to: store.folder.file("store.copy"), withType: NSSQLiteStoreType)
      },
    ]
    for refusal in refused {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: PhotoStore.model())
      let error = #expect(throws: NSError.self) { try refusal(coordinator) }
      #expect(error?.localizedDescription.contains("in its extension only") == true, "\(String(describing: error))")
      try close(coordinator)
    }
    #expect(try store.photos() == [1: PhotoStore.photo(1)])
    try store.expectWhole()
  }

  @Test("A part of a file that a killed copy has left is replaced by the whole file", arguments: [true, false])
  func truncated(isAsLarge: Bool) throws {
    let (store, source) = (try PhotoStore(), try filled())
    for one in [store, source] { try one.close() }
    let name = try #require(source.files.first)
    for folder in [store.values, store.marks] {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    let part = isAsLarge ? Data(count: PhotoStore.photo(1).count) : PhotoStore.photo(1).prefix(1000)
    try part.write(to: store.values.appendingPathComponent(name))
    try Data().write(to: store.marks.appendingPathComponent(name))
    try store.stack.coordinator.replacePersistentStore(
      at: store.stack.file, withPersistentStoreFrom: source.stack.file, ofType: NSSQLiteStoreType)
    #expect(try store.photos() == [1: PhotoStore.photo(1)])
    try store.expectWhole()
  }

  @Test("The files of a replaced store stay while a reader sees its rows, and go with the next opening")
  func replacedUnderReader() throws {
    let (store, source) = (try filled(), try filled())
    for one in [store, source] { try one.close() }
    let old = store.files
    let reader = try SQLiteConnection(path: store.stack.file.path, mode: .readWrite)
    try reader.execute("BEGIN; SELECT count(*) FROM ZSESSION")
    try store.stack.coordinator.replacePersistentStore(
      at: store.stack.file, withPersistentStoreFrom: source.stack.file, ofType: NSSQLiteStoreType)
    #expect(Set(store.files) == Set(old + source.files) && store.marked == old)
    try reader.execute("COMMIT")
    reader.close()
    try close(coordinator(store.stack.file))
    #expect(store.files == source.files)
    try store.expectWhole()
  }

  // MARK: Readers without locks

  /// A store that a reader has open without the locks of SQLite, and a coordinator that writes to it.
  private func reader(of store: PhotoStore) throws -> NSPersistentStoreCoordinator {
    try store.close()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: PhotoStore.model())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: store.stack.file,
      options: [NSReadOnlyPersistentStoreOption: NSNumber(value: true)])
    return coordinator
  }

  private func replacePhoto(of store: PhotoStore) throws {
    let writing = try store.newStack()
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = writing
    try context.performAndWait {
      try context.fetch(store.stack.request()).first?.setValue(PhotoStore.photo(2), forKey: "photo")
      try context.save()
    }
    try close(writing)
  }

  @Test("A reader without locks whose file is written to and whose photo's file is gone reads the new photo")
  func withoutLocks() throws {
    let store = try filled()
    let coordinator = try reader(of: store)
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let request = store.stack.request()
      request.includesPropertyValues = false
      let object = try #require(try context.fetch(request).first)
      let old = store.files
      try replacePhoto(of: store)
      #expect(Set(store.files).isDisjoint(with: old))
      #expect(object.value(forKey: "photo") as? Data == PhotoStore.photo(2))
    }
  }

  @Test("Where the file is written to during the read, it is read again")
  func duringRead() throws {
    let store = try filled()
    let coordinator = try reader(of: store)
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let connection = try coordinator.sqliteConnection()
      var writes = 0
      connection.traceHandler = { sql in
        guard sql.contains("ZPHOTO"), writes == 0 else { return }
        writes += 1
        try? replacePhoto(of: store)
      }
      let found = try context.fetch(store.stack.request())
      #expect(writes == 1)
      #expect(found.first?.value(forKey: "photo") as? Data == PhotoStore.photo(2))
    }
  }

  @Test("A reader of a private copy whose photo's file is gone gets the error that the store was written to")
  func privateCopy() throws {
    let store = try filled()
    // A log without its index, as a killed program leaves it.
    let copy = try PhotoStore()
    try copy.close()
    let support = ".store_SUPPORT"
    for suffix in ["", "-wal"] {
      let target = URL(fileURLWithPath: copy.stack.file.path + suffix)
      try? FileManager.default.removeItem(at: target)
      try FileManager.default.copyItem(at: URL(fileURLWithPath: store.stack.file.path + suffix), to: target)
    }
    try? FileManager.default.removeItem(at: URL(fileURLWithPath: copy.stack.file.path + "-shm"))
    try FileManager.default.copyItem(at: store.folder.file(support), to: copy.folder.file(support))
    let coordinator = try reader(of: copy)
    let path = try coordinator.sqliteConnection().integer(
      "SELECT count(*) FROM pragma_database_list WHERE file LIKE '%copy.sqlite'")
    try #require(path == 1)
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      #expect(try context.fetch(copy.stack.request()).first?.value(forKey: "photo") as? Data == PhotoStore.photo(1))
      context.reset()
      try replacePhoto(of: copy)
      let reads: [() throws -> Void] = [
        { _ = try context.fetch(copy.stack.request()) }, { try context.walk(copy.stack.request()) { _, _ in true } },
      ]
      for read in reads {
        let error = #expect(throws: NSError.self) { try read() }
        #expect(error?.localizedDescription.contains("written to") == true, "\(String(describing: error))")
      }
      let request = copy.stack.request()
      request.includesPropertyValues = false
      #expect(try context.fetch(request).first?.value(forKey: "photo") == nil)
    }
  }
}
