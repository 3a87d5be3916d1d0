import Foundation
import SystemSupport
import ManagedObjectModel
import PersistentStores

/// Copies of the unfinished rejects that the ledger of a store names. A dry run that imports into a copy of the store
/// continues, renames or removes these, and leaves the files of the store's own runs as they are.
struct CopiedRejects {
  /// Has a folder for each input.
  private let folder: String

  /// Copies the files into `folder`, which is made, and lets the ledger of the copied store name the copies.
  init(of copy: String, in folder: String, _ tables: LedgerTables, timeoutSeconds: Double) throws {
    self.folder = folder
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let inputs = try Self.inputs(of: copy, tables, timeoutSeconds)
    if inputs.isEmpty { return }
    let connection = try OpenedDatabase.openForWriting(copy, timeoutSeconds: timeoutSeconds)
    defer { connection.close() }
    try connection.transaction {
      for (id, path) in inputs {
        let own = "\(folder)/\(id)"
        try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: false)
        let target = "\(own)/\(URL(fileURLWithPath: path).lastPathComponent)"
        for (from, to) in zip(Self.names(of: path), Self.names(of: target)) where stat.of(from) != nil {
          try FileManager.default.copyItem(atPath: from, toPath: to)
        }
        try connection.run(
          "UPDATE \(tables.input) SET rejectsPath = ? WHERE inputID = ?", [.text(target), .integer(id)])
      }
    }
  }

  /// The paths of completed rejects among the copies.
  var completed: [String] {
    get throws {
      try FolderNames.sorted(in: folder).flatMap { input in
        try FolderNames.sorted(in: "\(folder)/\(input)")
          .filter { !$0.hasSuffix(".part") }.map { "\(folder)/\(input)/\($0)" }
      }
    }
  }

  /// The inputs whose rejects a run may continue, complete or remove, with their paths.
  private static func inputs(
    of copy: String, _ tables: LedgerTables, _ timeoutSeconds: Double
  ) throws -> [(id: Int64, path: String)] {
    if try OpenedDatabase.hasNoTables(copy, timeoutSeconds: timeoutSeconds) { return [] }
    let opened = try OpenedDatabase.openBeforeWriting(copy, timeoutSeconds: timeoutSeconds)
    defer { opened.connection.close() }
    // The query of a view may never end. The run refuses it.
    let known = try opened.connection.rows(
      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(tables.input)])
    if known.isEmpty { return [] }
    let query = "SELECT inputID, rejectsPath, state FROM \(tables.input) WHERE rejectsPath IS NOT NULL"
    return try opened.connection.rows(query).compactMap { row in
      guard case .integer(let id) = row[0], case .text(let path) = row[1], case .text(let state) = row[2] else {
        return nil
      }
      return state == LedgerEntry.partialState || RejectsFile.hasParts(path) ? (id, path) : nil
    }
  }

  /// The files of rejects with a final path, complete or not.
  private static func names(of path: String) -> [String] {
    let complete = [path, RejectsFile.detailsPath(of: path)]
    return complete + complete.map(RejectsFile.partPath)
  }
}
