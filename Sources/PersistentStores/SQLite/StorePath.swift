import Foundation

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

  /// Checks that a file is a regular one, also where a link leads to it. A file that does not exist may become one.
  ///
  /// - Throws: `SQLiteError`.
  package static func checkKind(_ path: String) throws {
    var status = stat()
    if stat(path, &status) == 0 { try checkKind(status) }
  }

  static func checkKind(_ status: stat) throws {
    let kind: String
    switch status.st_mode & S_IFMT {
    case S_IFREG: return
    case S_IFDIR: kind = "a folder, not a file"
    case S_IFIFO: kind = "a FIFO, not a regular file"
    case S_IFSOCK: kind = "a socket, not a regular file"
    default: kind = "a device, not a regular file"
    }
    throw SQLiteError(code: SQLiteError.notAFileCode, message: "it is \(kind)", sql: nil)
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
