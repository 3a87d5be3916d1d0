import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

/// Files of a store in states that a running program leaves behind, each in a folder of its own.
struct StoreSetup {
  /// Where it is made; copies are in folders next to it.
  let folder: TemporaryFolder
  let stack: Stack

  init(model: NSManagedObjectModel = Sessions.model()) throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder, model: model)
  }

  /// Rows that stay in the log while the store is open.
  func add(_ numbers: Range<Int>) throws {
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(numbers, into: context, stack.entity)
      try context.save()
    }
  }

  /// The files with these endings as they are at this moment, as a crash would leave them.
  func copy(_ endings: [String]) throws -> URL {
    let place = folder.file("copy-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    let copy = place.appendingPathComponent("store.sqlite")
    for ending in endings {
      try Data(contentsOf: URL(fileURLWithPath: stack.file.path + ending))
        .write(to: URL(fileURLWithPath: copy.path + ending))
    }
    return copy
  }

  func reopen() throws { try stack.reopen() }

  /// Three rows in the file and two in the log.
  static func withWAL() throws -> StoreSetup {
    let setup = try StoreSetup()
    try setup.add(0..<3)
    try setup.reopen()
    try setup.add(3..<5)
    return setup
  }

  /// Three rows in the file, and nothing next to it.
  static func closed() throws -> StoreSetup {
    let setup = try StoreSetup()
    try setup.add(0..<3)
    try setup.stack.coordinator.remove(setup.stack.coordinator.persistentStores[0])
    return setup
  }

  /// Names and contents of what is next to `file`, hidden files included.
  static func contents(beside file: URL) throws -> [String: Data] {
    let folder = file.deletingLastPathComponent()
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return Dictionary(
      uniqueKeysWithValues: names.map { name in
        (name, (try? Data(contentsOf: folder.appendingPathComponent(name))) ?? Data())
      })
  }

  /// Copies that reading has made and not yet removed.
  static func privateCopies() throws -> Set<String> {
    Set(
      try FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path)
        .filter { $0.hasPrefix("OpenCoreData-") })
  }

  /// How many sessions a reader finds.
  static func count(
    _ file: URL, model: NSManagedObjectModel = Sessions.model(), readOnly: Bool = true
  ) throws -> Int {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: file,
      options: [
        NSReadOnlyPersistentStoreOption: NSNumber(value: readOnly),
        NSPersistentStoreTimeoutOption: NSNumber(value: 0.2),
      ])
    defer { for store in coordinator.persistentStores { try? coordinator.remove(store) } }
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
      let count = try context.count(for: request)
      var walked = 0
      // A walk has a connection of its own.
      try context.walk(request, rowsPerBatch: 2) { batch, _ in
        walked += batch.count
        return true
      }
      #expect(try context.fetch(request).count == count && walked == count)
      return count
    }
  }
}
