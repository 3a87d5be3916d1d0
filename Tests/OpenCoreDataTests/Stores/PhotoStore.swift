import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

/// A store of sessions with photos that may lie outside, and what the sqlite3 shell and the folder say of it.
struct PhotoStore {
  let folder: TemporaryFolder
  let stack: Stack

  init(unique: [String] = [], options: [AnyHashable: Any]? = nil) throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder, model: Self.model(unique: unique))
    if let options {
      try stack.coordinator.remove(stack.coordinator.persistentStores[0])
      try stack.coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: stack.file, options: options)
    }
  }

  static func model(unique: [String] = []) -> NSManagedObjectModel {
    Sessions.model(unique: unique) {
      let photo = Sessions.attribute("photo", .binaryDataAttributeType)
      photo.allowsExternalBinaryDataStorage = true
      $0.properties.append(photo)
    }
  }

  /// Larger than what stays in a row, and different for each number.
  static func photo(_ number: Int) -> Data {
    Data((0..<140_000 + number).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) })
  }

  @discardableResult
  func insert(_ photo: Data?, _ context: NSManagedObjectContext, place: String? = nil) -> NSManagedObject {
    let object = NSManagedObject.make(stack.entity, in: context)
    object.setValue(photo, forKey: "photo")
    object.setValue(place, forKey: "place")
    return object
  }

  func newStack() throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: stack.file)
    return coordinator
  }

  func close() throws {
    for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
  }

  // MARK: What is there

  var values: URL { folder.file(".store_SUPPORT/_EXTERNAL_DATA") }
  var marks: URL { folder.file(".store_SUPPORT/_OPENCOREDATA_PENDING") }

  var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: values.path).sorted()) ?? [] }
  var marked: [String] { (try? FileManager.default.contentsOfDirectory(atPath: marks.path).sorted()) ?? [] }

  /// The photos by key, as the shell and the files have them.
  func photos() throws -> [Int: Data] {
    let rows = try sqlite(
      stack.file,
      "SELECT Z_PK || '|' || hex(substr(ZPHOTO, 1, 38)) || '|' || length(ZPHOTO) FROM ZSESSION WHERE "
        + "ZPHOTO IS NOT NULL")
    var found: [Int: Data] = [:]
    for row in rows.split(separator: "\n") {
      let parts = row.split(separator: "|")
      let bytes = stride(from: 0, to: parts[1].utf8.count, by: 2).compactMap {
        UInt8(parts[1].dropFirst($0).prefix(2), radix: 16)
      }
      let key = try #require(Int(parts[0]))
      guard bytes.first == 2 else {
        try #require(bytes.first == 1)
        found[key] = Data(count: (Int(parts[2]) ?? 0) - 1)
        continue
      }
      try #require(parts[2] == "38" && bytes.last == 0)
      found[key] = try Data(contentsOf: values.appendingPathComponent(String(decoding: bytes[1..<37], as: UTF8.self)))
    }
    return found
  }

  /// Each file belongs to one row, and nothing else is left.
  func expectWhole(_ comment: Comment? = nil, location: SourceLocation = #_sourceLocation) throws {
    let names = try sqlite(
      stack.file, "SELECT CAST(substr(ZPHOTO, 2, 36) AS TEXT) FROM ZSESSION WHERE substr(ZPHOTO, 1, 1) = x'02'"
    ).split(separator: "\n").map(String.init).sorted()
    #expect(files == names, comment, sourceLocation: location)
    #expect(marked.isEmpty, comment, sourceLocation: location)
  }
}
