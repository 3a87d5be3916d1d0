import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

/// A store that this library makes, read by other programs, compared with the store that Apple's framework made of the
/// same model.
///
/// Rules: docs/coredata-format.md: schema text and its order, entity numbers, key rows, file settings, version hashes,
/// digest and checksum. Z_MODELCACHE stays empty.
@Suite(.enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)))
struct FreshStoreTests {
  /// A new store of the model of `store`, and what the sqlite3 shell says of it and of Apple's.
  private func withBoth(
    _ store: SharedStore,
    _ body: (_ ours: (String) throws -> String, _ apples: (String) throws -> String) throws -> Void
  ) throws {
    let folder = try TemporaryFolder()
    let url = folder.file("Fresh.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try .load(contentsOf: store.modelURL))
    let made = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    try coordinator.remove(made)
    try body({ try Programs.sqlite(url.path, $0, in: folder) }, { try store.query($0) })
  }

  @Test(arguments: SharedStore.all)
  func `Schema text is Apple's, of unmigrated stores in its order too`(_ store: SharedStore) throws {
    try withBoth(store) { ours, apples throws in
      let query = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name <> 'Z_MODELCACHE' ORDER BY rowid"
      let (mine, theirs) = (try ours(query).split(separator: "\n"), try apples(query).split(separator: "\n"))
      #expect(mine.count >= 3)
      #expect(store.isMigrated ? mine.sorted() == theirs.sorted() : mine == theirs)
      #expect(
        try ours("SELECT sql FROM sqlite_master WHERE name = 'Z_MODELCACHE'")
          == "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)\n")
      #expect(try ours("SELECT count(*) FROM Z_MODELCACHE") == "0\n")
    }
  }

  @Test(arguments: SharedStore.all)
  func `Key rows have Apple's numbers, names and superentities, and no key is given out`(_ store: SharedStore) throws {
    try withBoth(store) { ours, apples throws in
      // A migration leaves an entity's old name; its number is that of a new store.
      let columns = store.name == "coredataplus-sample1-v2-migrated" ? "Z_ENT, Z_SUPER" : "Z_ENT, Z_NAME, Z_SUPER"
      let query = "SELECT \(columns) FROM Z_PRIMARYKEY ORDER BY Z_ENT"
      #expect(try ours(query) == apples(query))
      #expect(try ours("SELECT sum(Z_MAX) FROM Z_PRIMARYKEY") == "0\n")
    }
  }

  @Test(arguments: SharedStore.all)
  func `Hashes, digest, checksum, version identifiers and the metadata's keys are Apple's`(_ store: SharedStore) throws
  {
    try withBoth(store) { ours, _ throws in
      let hex = Array(try ours("SELECT hex(Z_PLIST) FROM Z_METADATA").trimmingCharacters(in: .newlines).utf8)
      let bytes = stride(from: 0, to: hex.count, by: 2).compactMap {
        UInt8(String(decoding: hex[$0...$0 + 1], as: UTF8.self), radix: 16)
      }
      let list = try PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
      let mine = try #require(list as? [String: Any])
      let theirs = try store.metadata()
      for key in [
        "NSStoreModelVersionHashes", "NSStoreModelVersionHashesVersion", "NSStoreType", "_NSAutoVacuumLevel",
        "NSStoreModelVersionHashesDigest", "NSStoreModelVersionChecksumKey",
      ] {
        // Older frameworks wrote no digest and no checksum.
        guard let expected = theirs[key] as? NSObject else {
          #expect(key.hasSuffix("Digest") || key.hasSuffix("ChecksumKey"))
          continue
        }
        #expect((mine[key] as? NSObject) == expected, "\(key)")
      }
      let identifiers = (theirs["NSStoreModelVersionIdentifiers"] as? [String] ?? []).filter { !$0.isEmpty }
      #expect((mine["NSStoreModelVersionIdentifiers"] as? [String] ?? []).filter { !$0.isEmpty } == identifiers)
      // Clients' own keys aside, which a new store does not have.
      let own = theirs.keys.filter { $0.hasPrefix("NS") || $0.hasPrefix("_NS") }
      let later = ["NSStoreModelVersionHashesDigest", "NSStoreModelVersionChecksumKey"]
      #expect(mine.keys.filter { !later.contains($0) }.sorted() == own.filter { !later.contains($0) }.sorted())
      #expect(mine["NSStoreModelVersionHashesDigest"] is String && mine["NSStoreModelVersionChecksumKey"] is String)
    }
  }

  @Test(arguments: SharedStore.all)
  func `The file has Apple's settings`(_ store: SharedStore) throws {
    try withBoth(store) { ours, apples throws in
      let query = "PRAGMA page_size; PRAGMA encoding; PRAGMA auto_vacuum; PRAGMA user_version; PRAGMA application_id"
      #expect(try ours(query) == apples(query))
      #expect(try ours("PRAGMA journal_mode") == "wal\n")
      #expect(try ours("SELECT Z_VERSION FROM Z_METADATA") == apples("SELECT Z_VERSION FROM Z_METADATA"))
    }
  }
}
