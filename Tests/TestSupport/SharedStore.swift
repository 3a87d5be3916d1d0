import Foundation
import Testing

/// A store that Apple's framework wrote, with its models. Tests read copies of it.
package struct SharedStore: Sendable, CustomTestStringConvertible {
  package let name: String
  package let sqliteFile: String
  /// The model version that the store was written with, relative to the store's folder.
  package let modelPath: String
  /// A store that Apple's framework migrated has its tables in another order than a new one.
  package var isMigrated = false

  package var testDescription: String { name }
  package var folder: URL { SharedFiles.stores.appendingPathComponent(name) }
  package var modelURL: URL { folder.appendingPathComponent(modelPath) }

  package static let all = [
    SharedStore(
      name: "surfjournal-kodeco", sqliteFile: "SurfJournalModel.sqlite",
      modelPath: "SurfJournalModel.xcdatamodeld/SurfJournalModel.xcdatamodel"),
    SharedStore(
      name: "bnr-testmodel", sqliteFile: "TestModel.sqlite",
      modelPath: "Sample.xcdatamodeld/TestModel.xcdatamodel"),
    SharedStore(
      name: "coredataplus-sample1-v1", sqliteFile: "SampleModel_V1.sqlite",
      modelPath: "SampleModel.xcdatamodeld/SampleModel.xcdatamodel"),
    SharedStore(
      name: "coredataplus-sample1-v2-migrated", sqliteFile: "SampleModel_V2.sqlite",
      modelPath: "SampleModel.xcdatamodeld/SampleModel2.xcdatamodel", isMigrated: true),
    SharedStore(
      name: "wibosco-revised-v1", sqliteFile: "CoreDataMigration_Example_1.sqlite",
      modelPath: "CoreDataMigration_Example.xcdatamodeld/CoreDataMigration_Example.xcdatamodel"),
    SharedStore(
      name: "wibosco-revised-v2", sqliteFile: "CoreDataMigration_Example_2.sqlite",
      modelPath: "CoreDataMigration_Example.xcdatamodeld/CoreDataMigration_Example 2.xcdatamodel",
      isMigrated: true),
    SharedStore(
      name: "wibosco-revised-v3", sqliteFile: "CoreDataMigration_Example_3.sqlite",
      modelPath: "CoreDataMigration_Example.xcdatamodeld/CoreDataMigration_Example 3.xcdatamodel"),
  ]

  /// Calls `body` with a copy of the store file (with its -wal and -shm), which is removed afterwards.
  package func withCopy<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let directory = try TemporaryFolder()
    for suffix in ["", "-wal", "-shm"] {
      let original = folder.appendingPathComponent(sqliteFile + suffix)
      guard FileManager.default.fileExists(atPath: original.path) else { continue }
      let copy = directory.file(sqliteFile + suffix)
      // Bytes only: the originals are read-only, and SQLite needs to write to the copy's WAL.
      try Data(contentsOf: original).write(to: copy)
    }
    return try withExtendedLifetime(directory) { try body(directory.file(sqliteFile)) }
  }

  /// The output of the sqlite3 shell for `sql` on a copy of the store.
  package func query(_ sql: String) throws -> String {
    try withCopy { try Programs.sqlite($0.path, sql) }
  }

  /// The metadata property list of the store.
  package func metadata() throws -> [String: Any] {
    let hex = try query("SELECT hex(Z_PLIST) FROM Z_METADATA").trimmingCharacters(in: .whitespacesAndNewlines)
    let digits = Array(hex.utf8)
    let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
      UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
    }
    let list = try PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
    return list as? [String: Any] ?? [:]
  }
}
