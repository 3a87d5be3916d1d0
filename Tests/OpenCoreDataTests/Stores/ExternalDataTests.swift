import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (docs/coredata-format.md, "External binary data"; NSAttributeDescription.h, allowsExternalBinaryDataStorage):
// the first byte of the column says whether the value follows (01) or is in `.<Store>_SUPPORT/_EXTERNAL_DATA/UUID` (02,
// the UUID as text, a NUL); clients see the value by every way of reading; a file is removed after the commit that
// removes its last row.

@Suite("Values that may lie outside are read and written as Apple's files have them")
struct ExternalDataTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  private static let name = "0B6B3C5E-6C2A-4A51-9B1D-3C1B5E6F7A80"
  private static let reference = "x'02\(hex(Data(name.utf8)))00'"
  private let photo = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder, model: Self.model())
  }

  private static func model() -> NSManagedObjectModel {
    Sessions.model {
      let photo = Sessions.attribute("photo", .binaryDataAttributeType)
      photo.allowsExternalBinaryDataStorage = true
      $0.properties.append(photo)
    }
  }

  private static func hex(_ data: Data) -> String {
    data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private var outside: URL { folder.file(".store_SUPPORT/_EXTERNAL_DATA/\(Self.name)") }
  private var isOutside: Bool { FileManager.default.fileExists(atPath: outside.path) }

  /// A session whose photo lies in a file of its own, as Apple's framework leaves it.
  private func makeOutside(_ bytes: String = reference) throws {
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.single.insert(0..<1, into: context, stack.entity)
      try context.save()
    }
    try sqlite(stack.file, "UPDATE ZSESSION SET ZPHOTO = \(bytes)")
    try FileManager.default.createDirectory(at: outside.deletingLastPathComponent(), withIntermediateDirectories: true)
    try photo.write(to: outside)
  }

  private func column() throws -> String { try sqlite(stack.file, "SELECT hex(ZPHOTO) FROM ZSESSION ORDER BY Z_PK") }

  // MARK: Reading

  /// What each way of reading finds in the one session of `coordinator`.
  private static func readings(_ coordinator: NSPersistentStoreCoordinator) throws -> [String: Data?] {
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      var found: [String: Data?] = [:]
      let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
      let object = try context.fetch(request).first
      found["fetch"] = object?.value(forKey: "photo") as? Data
      if let object {
        context.refresh(object, mergeChanges: false)
        found["fault"] = object.value(forKey: "photo") as? Data
      }
      try context.walk(request) { batch, _ in
        found["walk"] = batch.value(row: 0, slot: 1).blob
        return true
      }
      let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Session")
      dictionaries.resultType = .dictionaryResultType
      dictionaries.propertiesToFetch = ["photo"]
      dictionaries.returnsDistinctResults = true
      found["dictionary"] = try context.fetch(dictionaries).first?["photo"] as? Data
      if let value = found["fetch"] ?? nil {
        request.predicate = NSPredicate(format: "photo == %@", value)
        found["predicate"] = try context.fetch(request).first?.value(forKey: "photo") as? Data
      }
      return found
    }
  }

  @Test(
    "A value in a file, one that follows its mark, and one without a mark, by every way of reading",
    arguments: ["outside", "follows", "unmarked", "long"], ["writable", "read-only", "copy"])
  func reading(kind: String, way: String) throws {
    let value: Data
    switch kind {
    case "outside":
      value = photo
      try makeOutside()
    case "follows":
      value = Data([2, 7, 7])
      try makeOutside("x'01020707'")
    case "unmarked":
      value = Data([0xFF, 0xD8])
      try makeOutside("x'FFD8'")
    default:
      // Two as its first byte, but no name behind it: the value of a program that did not know of the mark.
      value = Data([2, 65, 66])
      try makeOutside("x'024142'")
    }
    if way != "writable" { try stack.coordinator.remove(stack.coordinator.persistentStores[0]) }
    if way == "copy" { try Data().write(to: URL(fileURLWithPath: stack.file.path + "-wal")) }
    let coordinator =
      way == "writable" ? stack.coordinator : NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    if way != "writable" {
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: stack.file,
        options: [NSReadOnlyPersistentStoreOption: NSNumber(value: true)])
    }
    let found = try Self.readings(coordinator)
    #expect(found.count == 5)
    for (name, data) in found { #expect(data == value, "\(name)") }
  }

  @Test("A missing file and a name that leads elsewhere are errors that name row, attribute and file")
  func missing() throws {
    try makeOutside()
    try FileManager.default.removeItem(at: outside)
    let context = stack.context()
    context.performAndWait {
      let filtered = stack.request()
      filtered.predicate = NSPredicate(format: "photo == %@", Data([1]))
      let reads: [() throws -> Void] = [
        { _ = try context.fetch(stack.request()) }, { try context.walk(stack.request()) { _, _ in true } },
        { _ = try context.count(for: filtered) },
      ]
      for read in reads {
        let text = #expect(throws: NSError.self) { try read() }?.localizedDescription ?? ""
        for word in ["Session.photo", "row 1", outside.path, ".store_SUPPORT"] {
          #expect(text.contains(word), "\(text)")
        }
      }
    }
    let trick = Data("../../../../../../etc/passwd-12345678".utf8.prefix(36))
    try sqlite(stack.file, "UPDATE ZSESSION SET ZPHOTO = x'02\(Self.hex(trick))00'")
    let error = #expect(throws: NSError.self) { try context.performAndWait { try context.fetch(stack.request()) } }
    #expect(error?.localizedDescription.contains("without a UUID") == true)
  }

  // MARK: Writing

  @Test("Values are written behind their mark, by saves and by batch requests; nothing stays NULL")
  func writing() throws {
    let context = stack.context()
    try context.performAndWait {
      let objects = [Data([1, 2]), nil, Data()].map { data in
        let object = NSManagedObject.make(stack.entity, in: context)
        object.setValue(data, forKey: "photo")
        return object
      }
      try context.save()
      #expect(try column() == "010102\n\n01")
      objects[1].setValue(Data([9]), forKey: "photo")
      try context.save()
      #expect(try column() == "010102\n0109\n01")
      let insert = NSBatchInsertRequest(entityName: "Session", objects: [["photo": Data([5]), "rating": 3]])
      try context.execute(insert)
      let update = NSBatchUpdateRequest(entityName: "Session")
      update.predicate = NSPredicate(format: "photo == %@", Data([9]))
      update.propertiesToUpdate = ["photo": Data([8, 8])]
      try context.execute(update)
      #expect(try column() == "010102\n010808\n01\n0105")
      context.refreshAllObjects()
      #expect(objects.map { $0.value(forKey: "photo") as? Data } == [Data([1, 2]), Data([8, 8]), Data()])
    }
  }

  enum Change: String, CaseIterable, Sendable { case update, delete, batchUpdate, batchDelete }

  @Test("A file goes with the commit that leaves it without a row, not before", arguments: Change.allCases)
  func leaving(change: Change) throws {
    try makeOutside()
    let context = stack.context()
    try context.performAndWait {
      let object = try #require(try context.fetch(stack.request()).first)
      object.setValue("elsewhere", forKey: "place")
      try context.save()
      #expect(isOutside, "another attribute was changed")
      switch change {
      case .update: object.setValue(Data([1]), forKey: "photo")
      case .delete: context.delete(object)
      case .batchUpdate:
        let request = NSBatchUpdateRequest(entityName: "Session")
        request.propertiesToUpdate = ["photo": Data([1])]
        try context.execute(request)
      case .batchDelete:
        try context.execute(
          NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: "Session")))
      }
      if context.hasChanges {
        // The participant sees all written and nothing committed.
        let participant = FailingParticipant { #expect(isOutside) }
        stack.coordinator.addSaveParticipant(participant)
        #expect(throws: NSError.self) { try context.save() }
        #expect(isOutside, "rolled back")
        stack.coordinator.removeSaveParticipant(participant)
        try context.save()
      }
      #expect(!isOutside)
    }
  }

  @Test("A file stays while a generation that refers to it is pinned")
  func pinned() throws {
    try makeOutside()
    let (context, reader) = (stack.context(), stack.context())
    try reader.performAndWait { try reader.setQueryGenerationFrom(.current) }
    let seen = try reader.performAndWait { try reader.count(for: stack.request()) }
    #expect(seen == 1)
    try context.performAndWait {
      for object in try context.fetch(stack.request()) { context.delete(object) }
      try context.save()
    }
    try reader.performAndWait {
      #expect(try reader.fetch(stack.request()).first?.value(forKey: "photo") as? Data == photo)
      try reader.setQueryGenerationFrom(nil)
    }
    try stack.coordinator.remove(stack.coordinator.persistentStores[0])
    #expect(!isOutside)
  }

  @Test("A file stays while a walk is on its way to it")
  func walked() throws {
    try makeOutside()
    try sqlite(stack.file, "UPDATE ZSESSION SET Z_PK = 2; INSERT INTO ZSESSION(Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1)")
    let (context, reader) = (stack.context(), stack.context())
    var photos: [Data?] = []
    try reader.performAndWait {
      try reader.walk(stack.request(), rowsPerBatch: 1) { batch, _ in
        photos.append(batch.value(row: 0, slot: 1).blob)
        guard photos.count == 1 else { return true }
        try context.performAndWait {
          for object in try context.fetch(stack.request()) { context.delete(object) }
          try context.save()
        }
        return true
      }
    }
    #expect(photos == [nil, photo])
    try stack.coordinator.remove(stack.coordinator.persistentStores[0])
    #expect(!isOutside)
  }

  @Test(
    "A copy of a store takes the files along, one in memory the values",
    arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
  func copies(type: String) throws {
    try makeOutside()
    let store = stack.coordinator.persistentStores[0]
    try stack.coordinator.migratePersistentStore(store, to: folder.file("other.sqlite"), withType: type)
    try FileManager.default.removeItem(at: outside)
    #expect(try Self.readings(stack.coordinator)["fetch"] == photo)
    let copy = folder.file(".other_SUPPORT/_EXTERNAL_DATA/\(Self.name)")
    #expect(FileManager.default.fileExists(atPath: copy.path) == (type == NSSQLiteStoreType))
  }

  @Test("A migration keeps what lies outside")
  func migration() throws {
    try makeOutside()
    try stack.coordinator.remove(stack.coordinator.persistentStores[0])
    let newer = Self.model()
    newer.entitiesByName["Session"]?.properties.append(Sessions.attribute("wind", .stringAttributeType))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: newer)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: stack.file,
      options: [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        OCDSourceModelsOption: [Self.model()],
      ])
    #expect(try Self.readings(coordinator)["fetch"] == photo)
  }
}

extension StoredValue {
  fileprivate var blob: Data? { if case .blob(let data) = self { data } else { nil } }
}

/// Refuses every save once it has looked.
private final class FailingParticipant: SaveParticipant {
  private let look: @Sendable () -> Void
  init(_ look: @escaping @Sendable () -> Void) { self.look = look }

  func write(to transaction: SaveTransaction) throws {
    look()
    throw NSError(domain: "test", code: 1)
  }
}
