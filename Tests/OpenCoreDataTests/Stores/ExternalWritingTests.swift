import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (NSAttributeDescription.h, allowsExternalBinaryDataStorage; docs/coredata-format.md, "External binary data";
// decision 26): a value of more than 128 KiB is in a file that belongs to its row alone; a file appears before the commit
// that names it and goes after the commit that releases it, and a rolled back transaction leaves none.

@Suite("Large values are written to files of their rows")
struct ExternalWritingTests {
  @Test("More than 128 KiB go to a file, by saves of objects and of batches and by batch requests")
  func writing() throws {
    let store = try PhotoStore()
    let limit = 128 * 1024
    let context = store.stack.context()
    try context.performAndWait {
      let objects = [limit, limit + 1, 140_000].map { store.insert(Data(count: $0), context) }
      try context.save()
      #expect(try store.photos().mapValues(\.count) == [1: limit, 2: limit + 1, 3: 140_000])
      #expect(store.files.count == 2)
      objects[0].setValue(PhotoStore.photo(1), forKey: "photo")
      objects[1].setValue(Data([1]), forKey: "photo")
      try context.save()
      #expect(store.files.count == 2)
      var batch = ObjectBatch(entity: store.stack.entity)
      for number in 4...6 {
        batch.appendRow()
        batch.setValue(.blob(PhotoStore.photo(number)), row: number - 4, slot: 1)
      }
      context.insert(batch)
      try context.save()
      try context.execute(NSBatchInsertRequest(entityName: "Session", objects: [["photo": PhotoStore.photo(7)]]))
      let photos = try store.photos()
      for number in [4, 5, 6, 7] { #expect(photos[number] == PhotoStore.photo(number)) }
      #expect(photos[1] == PhotoStore.photo(1) && photos[2]?.count == 1)
      try store.expectWhole()
      context.refreshAllObjects()
      #expect(objects[0].value(forKey: "photo") as? Data == PhotoStore.photo(1))
    }
    try store.expectWhole()
  }

  @Test("Rows that one statement updates have a file each, and a file goes with its own row only")
  func batchUpdate() throws {
    let store = try PhotoStore()
    let context = store.stack.context()
    try context.performAndWait {
      for _ in 0..<3 { store.insert(nil, context) }
      try context.save()
      let update = NSBatchUpdateRequest(entityName: "Session")
      update.propertiesToUpdate = ["photo": PhotoStore.photo(9)]
      try context.execute(update)
      #expect(store.files.count == 3)
      let delete = NSFetchRequest<NSFetchRequestResult>(entityName: "Session")
      delete.fetchLimit = 1
      try context.execute(NSBatchDeleteRequest(fetchRequest: delete))
      #expect(try store.photos().values.filter { $0 == PhotoStore.photo(9) }.count == 2)
    }
    try store.expectWhole()
  }

  enum Release: String, CaseIterable, Sendable { case larger, small, none, delete, batchUpdate, batchDelete }

  @Test("A file goes with the commit that releases it", arguments: Release.allCases)
  func release(_ release: Release) throws {
    let store = try PhotoStore()
    let context = store.stack.context()
    try context.performAndWait {
      let object = store.insert(PhotoStore.photo(1), context)
      store.insert(PhotoStore.photo(2), context, place: "stays")
      try context.save()
      let old = store.files
      let predicate = NSPredicate(format: "place == nil")
      switch release {
      case .larger: object.setValue(PhotoStore.photo(3), forKey: "photo")
      case .small: object.setValue(Data([3]), forKey: "photo")
      case .none: object.setValue(nil, forKey: "photo")
      case .delete: context.delete(object)
      case .batchUpdate:
        let request = NSBatchUpdateRequest(entityName: "Session")
        request.predicate = predicate
        request.propertiesToUpdate = ["photo": PhotoStore.photo(4)]
        try context.execute(request)
      case .batchDelete:
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Session")
        request.predicate = predicate
        try context.execute(NSBatchDeleteRequest(fetchRequest: request))
      }
      try context.save()
      #expect(Set(old).intersection(store.files).count == 1)
      #expect(try store.photos()[2] == PhotoStore.photo(2))
    }
    try store.expectWhole()
  }

  @Test("A save that fails leaves the files as they were; the next one writes them")
  func rollback() throws {
    let store = try PhotoStore(unique: ["place"])
    let context = store.stack.context()
    try context.performAndWait {
      let first = store.insert(PhotoStore.photo(1), context, place: "Pipe")
      try context.save()
      let old = store.files
      first.setValue(PhotoStore.photo(2), forKey: "photo")
      let second = store.insert(PhotoStore.photo(3), context, place: "Pipe")
      for number in 4..<7 { store.insert(PhotoStore.photo(number), context, place: "\(number)") }
      #expect(throws: NSError.self) { try context.save() }
      #expect(store.files == old)
      #expect(try store.photos()[1] == PhotoStore.photo(1))
      second.setValue("Jaws", forKey: "place")
      try context.save()
      #expect(store.files.count == 5)
      #expect(try Set(store.photos().values) == Set([2, 3, 4, 5, 6].map(PhotoStore.photo)))
      try sqlite(
        store.stack.file,
        "CREATE TRIGGER refusal BEFORE INSERT ON ZSESSION WHEN NEW.ZPLACE = 'no' BEGIN SELECT RAISE(ABORT, 'no'); END")
      let again = NSBatchInsertRequest(
        entityName: "Session", objects: ["new", "no"].map { ["place": $0, "photo": PhotoStore.photo(8)] })
      #expect(throws: NSError.self) { try context.execute(again) }
      #expect(store.files.count == 5)
    }
    try store.expectWhole()
  }

  @Test("Rows that a batch insertion leaves out or overwrites leave no file")
  func leftOut() throws {
    let store = try PhotoStore(unique: ["place"])
    let context = store.stack.context()
    try context.performAndWait {
      store.insert(PhotoStore.photo(1), context, place: "Pipe")
      try context.save()
      let objects: [[String: Any]] = ["Pipe", "Jaws"].map { ["place": $0, "photo": PhotoStore.photo(2)] }
      for (policy, expected) in [(NSMergePolicy.mergeByPropertyStoreTrump, 1), (.mergeByPropertyObjectTrump, 2)] {
        context.mergePolicy = policy
        try context.execute(NSBatchInsertRequest(entityName: "Session", objects: objects))
        let pipe = try #require(Int(sqlite(store.stack.file, "SELECT Z_PK FROM ZSESSION WHERE ZPLACE = 'Pipe'")))
        #expect(try store.photos()[pipe] == PhotoStore.photo(expected))
        #expect(store.files.count == 2)
        try store.expectWhole("\(expected)")
      }
    }
  }

  @Test("Several saves in one transaction: all files, none, or those of the saves that were not refused")
  func severalSaves() throws {
    let store = try PhotoStore(unique: ["place"])
    let context = store.stack.context()
    func run(commits: Bool) throws {
      try store.stack.coordinator.beginTransaction()
      try context.performAndWait {
        let object = store.insert(PhotoStore.photo(1), context, place: "a\(commits)")
        try context.save()
        store.insert(PhotoStore.photo(2), context, place: "a\(commits)")
        #expect(throws: NSError.self) { try context.save() }
        context.rollback()
        object.setValue(PhotoStore.photo(3), forKey: "photo")
        try context.save()
        context.reset()
      }
      if commits {
        try store.stack.coordinator.commitTransaction()
      } else {
        try store.stack.coordinator.rollBackTransaction()
      }
    }
    try run(commits: false)
    #expect(store.files.isEmpty)
    try store.expectWhole()
    try run(commits: true)
    #expect(try Array(store.photos().values) == [PhotoStore.photo(3)])
    try store.expectWhole()
  }

  @Test("An attribute in a uniqueness constraint keeps its values in the rows, where they are compared")
  func unique() throws {
    let store = try PhotoStore(unique: ["photo"])
    let context = store.stack.context()
    try context.performAndWait {
      let object = store.insert(PhotoStore.photo(1), context)
      try context.save()
      store.insert(PhotoStore.photo(1), context)
      #expect(throws: NSError.self) { try context.save() }
      context.rollback()
      object.setValue(PhotoStore.photo(2), forKey: "photo")
      try context.save()
    }
    #expect(store.files.isEmpty)
  }

  @Test("A store that is replaced by another has the files of the other, and only these")
  func replacement() throws {
    let (store, other) = (try PhotoStore(), try PhotoStore())
    for (number, one) in [store, other].enumerated() {
      let context = one.stack.context()
      try context.performAndWait {
        one.insert(PhotoStore.photo(number), context)
        try context.save()
      }
      try one.close()
    }
    let old = store.files
    for _ in 0..<2 {
      try store.stack.coordinator.replacePersistentStore(
        at: store.stack.file, withPersistentStoreFrom: other.stack.file, ofType: NSSQLiteStoreType)
      #expect(try store.photos() == [1: PhotoStore.photo(1)])
      #expect(store.files == other.files && store.files != old)
      try store.expectWhole()
    }
  }

  @Test("A reader of another process keeps the files of the rows that it sees")
  func otherReader() throws {
    let store = try PhotoStore()
    let context = store.stack.context()
    let other = try SQLiteConnection(path: store.stack.file.path, mode: .readWrite)
    defer { other.close() }
    try context.performAndWait {
      let object = store.insert(PhotoStore.photo(1), context)
      try context.save()
      let old = store.files
      try other.execute("BEGIN; SELECT count(*) FROM ZSESSION")
      object.setValue(PhotoStore.photo(2), forKey: "photo")
      try context.save()
      #expect(Set(store.files).isSuperset(of: old) && store.files.count == 2)
      #expect(store.marked == old)
      // Who opens the store now can't tell either.
      let second = try store.newStack()
      #expect(store.files.count == 2)
      for one in second.persistentStores { try second.remove(one) }
      try other.execute("COMMIT")
      object.setValue("Pipe", forKey: "place")
      try context.save()
      #expect(store.files.count == 1)
    }
    try store.expectWhole()
  }

  @Test("Values that can't be written are an error that says why; the context can be saved once they can be")
  func unwritable() throws {
    let store = try PhotoStore()
    let context = store.stack.context()
    try store.folder.write("", to: ".store_SUPPORT")
    try context.performAndWait {
      store.insert(PhotoStore.photo(1), context)
      let error = #expect(throws: NSError.self) { try context.save() }
      let text = error?.localizedDescription ?? ""
      for part in [store.stack.file.lastPathComponent, "large value", "Not a directory"] {
        #expect(text.contains(part), "\(text)")
      }
      try FileManager.default.removeItem(at: store.folder.file(".store_SUPPORT"))
      try context.save()
    }
    #expect(try store.photos() == [1: PhotoStore.photo(1)])
    try store.expectWhole()
  }

  @Test("Files are as private as the store")
  func rights() throws {
    let store = try PhotoStore()
    chmod(store.stack.file.path, 0o600)
    let context = store.stack.context()
    try context.performAndWait {
      store.insert(PhotoStore.photo(1), context)
      try context.save()
    }
    let paths = [store.values.path, store.values.path + "/" + (try #require(store.files.first))]
    let modes = try paths.map { try FileManager.default.attributesOfItem(atPath: $0)[.posixPermissions] as? Int }
    #expect(modes == [0o700, 0o600])
  }

  @Test("A store in memory, and one that is to be a single file, keep large values in their rows")
  func inRows() throws {
    let store = try PhotoStore(options: [StoreOptions.keepsLargeValuesKey: NSNumber(value: true)])
    let memory = NSPersistentStoreCoordinator(managedObjectModel: PhotoStore.model())
    try memory.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    for coordinator in [store.stack.coordinator, memory] {
      let context = NSManagedObjectContext(concurrencyType: .privateQueue)
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait {
        let entity = try #require(coordinator.managedObjectModel.entitiesByName["Session"])
        let object = NSManagedObject.make(entity, in: context)
        object.setValue(PhotoStore.photo(1), forKey: "photo")
        try context.save()
        context.refresh(object, mergeChanges: false)
        #expect(object.value(forKey: "photo") as? Data == PhotoStore.photo(1))
      }
    }
    #expect(store.files.isEmpty)
    #expect(try store.photos()[1]?.count == PhotoStore.photo(1).count)
  }

  @Test(
    "A migration that removes the attribute removes the files; one that keeps it keeps them", arguments: [true, false])
  func migration(keeps: Bool) throws {
    let store = try PhotoStore()
    let context = store.stack.context()
    try context.performAndWait {
      store.insert(PhotoStore.photo(1), context)
      try context.save()
    }
    try store.close()
    let old = PhotoStore.model()
    let newer = keeps ? PhotoStore.model() : Sessions.model()
    newer.entitiesByName["Session"]?.properties.append(Sessions.attribute("wind", .stringAttributeType))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: newer)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: store.stack.file,
      options: [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        OCDSourceModelsOption: [old],
      ])
    #expect(store.files.count == (keeps ? 1 : 0))
    #expect(store.marked.isEmpty)
  }
}
