import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (Apple's framework writes "External data reference can't find underlying file" and goes on; NSManagedObjectContext,
// existingObject(with:); Deviations, "Stores"): a property can't throw, so a value whose file is missing reads as nil;
// what can throw does; nothing that is saved afterwards loses the reference.

@Suite("A large value whose file is missing")
struct MissingFileTests {
  private let store: PhotoStore
  private let context: NSManagedObjectContext

  init() throws {
    store = try PhotoStore()
    context = store.stack.context()
  }

  /// Two sessions; the file of the first one's photo is gone.
  private func fill() throws -> [NSManagedObjectID] {
    try context.performAndWait {
      let objects = [1, 2].map { store.insert(PhotoStore.photo($0), context, place: "Spot \($0)") }
      try context.save()
      let gone = try sqlite(store.stack.file, "SELECT CAST(substr(ZPHOTO, 2, 36) AS TEXT) FROM ZSESSION WHERE Z_PK = 1")
      try FileManager.default.removeItem(at: store.values.appendingPathComponent(gone))
      let ids = objects.map(\.objectID)
      context.reset()
      return ids
    }
  }

  private func column() throws -> String {
    try sqlite(store.stack.file, "SELECT length(ZPHOTO) FROM ZSESSION WHERE Z_PK = 1")
  }

  @Test("A property reads as nil and the others as they are; what can throw throws", arguments: [0, 1, 2])
  func reading(levels: Int) throws {
    let ids = try fill()
    var leaf = context
    for _ in 0..<levels { leaf = store.stack.context(leaf) }
    try leaf.performAndWait {
      let error = #expect(throws: NSError.self) { try leaf.existingObject(with: ids[0]) }
      #expect(error?.localizedDescription.contains("Session.photo in row 1") == true)
      let object = leaf.object(with: ids[0])
      #expect(object.place == "Spot 1" && object.value(forKey: "photo") == nil)
      #expect(!object.isDeleted && !object.isFault && object.changedValues().isEmpty)
      #expect(leaf.object(with: ids[1]).value(forKey: "photo") as? Data == PhotoStore.photo(2))
      object.setValue("Elsewhere", forKey: "place")
      try leaf.save()
    }
    while let parent = leaf.parent {
      try parent.performAndWait { try parent.save() }
      leaf = parent
    }
    #expect(try column() == "38")
    #expect(try sqlite(store.stack.file, "SELECT ZPLACE FROM ZSESSION WHERE Z_PK = 1") == "Elsewhere")
  }

  @Test("Objects that are loaded together are all loaded, and a refresh reads a file that is back")
  func group() throws {
    _ = try fill()
    try context.performAndWait {
      let request = store.stack.request()
      request.includesPropertyValues = false
      request.fetchBatchSize = 2
      let objects = try context.fetch(request)
      let photos = objects.map { $0.value(forKey: "photo") as? Data }
      #expect(photos == [nil, PhotoStore.photo(2)])
      let name = try sqlite(store.stack.file, "SELECT CAST(substr(ZPHOTO, 2, 36) AS TEXT) FROM ZSESSION WHERE Z_PK = 1")
      try PhotoStore.photo(1).write(to: store.values.appendingPathComponent(name))
      context.refresh(objects[0], mergeChanges: true)
      #expect(objects[0].value(forKey: "photo") as? Data == PhotoStore.photo(1))
    }
  }

  @Test("The object can be deleted, also by a cascade")
  func deletion() throws {
    let ids = try fill()
    try context.performAndWait {
      context.delete(context.object(with: ids[0]))
      try context.save()
    }
    #expect(try sqlite(store.stack.file, "SELECT Z_PK FROM ZSESSION") == "2")
    try store.expectWhole()
    let folder = try TemporaryFolder()
    let albums = AlbumStore(folder: folder.url.path)
    try albums.fill()
    try FileManager.default.removeItem(at: folder.file(".Albums_SUPPORT/_EXTERNAL_DATA"))
    try albums.take(.cascade)
    #expect(try sqlite(albums.file, "SELECT count(*) FROM ZPAGE WHERE ZALBUM = 1") == "0")
  }

  @Test(
    "A row that is written again after others have deleted it keeps its reference",
    arguments: [Policy.overwrite, .objectTrump], [0, 1])
  func writtenAgain(policy: Policy, levels: Int) throws {
    let ids = try fill()
    context.mergePolicy = policy.value
    let leaf = levels == 0 ? context : store.stack.context(context)
    let before = try bytes()
    try leaf.performAndWait {
      let object = leaf.object(with: ids[0])
      #expect(object.value(forKey: "photo") == nil)
      try sqlite(store.stack.file, "DELETE FROM ZSESSION WHERE Z_PK = 1")
      object.setValue("Elsewhere", forKey: "place")
      try leaf.save()
    }
    if levels == 1 { try context.performAndWait { try context.save() } }
    #expect(try sqlite(store.stack.file, "SELECT ZPLACE FROM ZSESSION WHERE Z_PK = 1") == "Elsewhere")
    #expect(try bytes() == before)
  }

  @Test(
    "A policy that takes the object's values leaves a value that was not seen", arguments: [false, true])
  func overwritten(isBack: Bool) throws {
    let ids = try fill()
    context.mergePolicy = NSMergePolicy.overwrite
    let before = try bytes()
    let name = try sqlite(store.stack.file, "SELECT CAST(substr(ZPHOTO, 2, 36) AS TEXT) FROM ZSESSION WHERE Z_PK = 1")
    try context.performAndWait {
      let object = context.object(with: ids[0])
      #expect(object.value(forKey: "photo") == nil)
      if isBack { try PhotoStore.photo(1).write(to: store.values.appendingPathComponent(name)) }
      try sqlite(store.stack.file, "UPDATE ZSESSION SET ZRATING = 1, Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
      object.setValue("Elsewhere", forKey: "place")
      try context.save()
      #expect(object.value(forKey: "photo") as? Data == (isBack ? PhotoStore.photo(1) : nil))
    }
    #expect(try sqlite(store.stack.file, "SELECT ZPLACE FROM ZSESSION WHERE Z_PK = 1") == "Elsewhere")
    #expect(try bytes() == before)
  }

  private func bytes() throws -> String {
    try sqlite(store.stack.file, "SELECT hex(ZPHOTO) FROM ZSESSION WHERE Z_PK = 1")
  }
}
