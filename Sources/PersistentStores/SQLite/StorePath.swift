import Foundation
import SystemSupport

/// Finds the file that a store's path leads to.
package enum StorePath {
  /// The path without symbolic links. SQLite follows links and keeps the WAL, the WAL index and the journal next to
  /// the file itself, so everything next to a store is found from this path. The path of a link that leads nowhere is
  /// that of the file which SQLite would create.
  package static func resolved(_ path: String) -> String {
    var path = path
    for _ in 0..<linksMax {
      if let resolved = realpath(path, nil) {
        defer { free(resolved) }
        return String(cString: resolved)
      }
      let url = URL(fileURLWithPath: path)
      let folder = url.deletingLastPathComponent().resolvingSymlinksInPath()
      guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else {
        return folder.appendingPathComponent(url.lastPathComponent).path
      }
      path = target.hasPrefix("/") ? target : folder.appendingPathComponent(target).path
    }
    return path
  }
  /// Links that lead to each other have no end.
  private static let linksMax = 40

  /// What SQLite adds to the path of a store for the files next to it.
  package static let suffixes = ["-wal", "-shm", "-journal"]

  /// Checks that a store and the files that SQLite keeps next to it are regular ones, also where links lead to them. A file
  /// that does not exist may become one. SQLite would wait for the other end of a FIFO.
  ///
  /// - Throws: `SQLiteError`.
  package static func checkKind(_ path: String) throws {
    if let kind = kind(path) { throw SQLiteError(code: SQLiteError.notAFileCode, message: "it is \(kind)", sql: nil) }
    let path = resolved(path)
    for file in suffixes.map({ path + $0 }) {
      guard let kind = kind(file) else { continue }
      throw SQLiteError(
        code: SQLiteError.notAFileCode, message: "\(file), where SQLite keeps a part of it, is \(kind)", sql: nil,
        isBesideStore: true)
    }
  }

  /// Whether a store or a file next to it is there.
  static func exists(_ path: String) throws(SQLiteError) -> Bool {
    do throws(POSIXError) {
      return try SystemSupport.exists(path)
    } catch {
      throw SQLiteError(error, "\(path) can't be examined")
    }
  }

  private static func kind(_ path: String) -> String? {
    var status = stat()
    return stat(path, &status) == 0 ? RegularFile.kind(status) : nil
  }

  package static func resolved(_ url: URL) -> URL { URL(fileURLWithPath: resolved(url.path)) }

  /// The folder in which a migration makes what the store at a resolved path is to become. It is there until all of the
  /// store is replaced.
  static func exchangeFolder(of store: URL) -> URL {
    store.deletingLastPathComponent()
      .appendingPathComponent(".\(store.lastPathComponent)-migration", isDirectory: true)
  }

  /// The new store in that folder.
  static func exchangeFile(of store: URL) -> URL { exchangeFolder(of: store).appendingPathComponent("store.sqlite") }
}
