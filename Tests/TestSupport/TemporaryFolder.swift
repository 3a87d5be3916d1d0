import Foundation

/// A folder for one test. It is removed with the last reference to it.
package final class TemporaryFolder: Sendable {
  package let url: URL

  /// - Parameter pathBytes: The length of its path where that matters; shorter paths are filled up.
  package init(pathBytes: Int = 0) throws {
    let base = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
    let name = "SurfJournal-\(UUID().uuidString)"
    let missing = max(0, pathBytes - base.appendingPathComponent(name).path.utf8.count)
    url = base.appendingPathComponent(name + String(repeating: "-", count: missing))
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    // Without write permission on a folder, its files could not be removed.
    for name in (try? FileManager.default.subpathsOfDirectory(atPath: url.path)) ?? [] {
      try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path(name))
    }
    try? FileManager.default.removeItem(at: url)
  }

  package func file(_ name: String) -> URL { url.appendingPathComponent(name) }
  package func path(_ name: String) -> String { file(name).path }

  /// Writes a file and returns its path.
  @discardableResult
  package func write(_ text: String, to name: String) throws -> String {
    try Data(text.utf8).write(to: file(name))
    return path(name)
  }

  package func data(_ name: String) throws -> Data { try Data(contentsOf: file(name)) }
  package func text(_ name: String) throws -> String { String(decoding: try data(name), as: UTF8.self) }
  package func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

  /// The names of the files in it, hidden ones too, sorted.
  package var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
  }

  /// The contents of each file by its name.
  package var contents: [String: Data] {
    get throws { Dictionary(uniqueKeysWithValues: try names.map { ($0, try data($0)) }) }
  }

  /// Makes a folder in it.
  package func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(at: file(name), withIntermediateDirectories: true)
  }

  package func setMode(_ mode: Int, of name: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
  }
}
