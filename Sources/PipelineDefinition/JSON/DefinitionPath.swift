import Foundation

/// Paths in definitions: relative to the home directory, to the root, or to a folder.
package enum DefinitionPath {
  /// The URL of a path. A relative path starts at `folder`, or at the current directory when `nil`.
  package static func url(_ path: String, from folder: URL?) -> URL {
    if path == "~" || path.hasPrefix("~/") {
      let home = FileManager.default.homeDirectoryForCurrentUser
      return path == "~" ? home : home.appendingPathComponent(String(path.dropFirst(2)))
    }
    // The URL of a folder needs a trailing slash, or relative paths would replace its last component.
    let base = folder.map { URL(fileURLWithPath: $0.path, isDirectory: true) }
    return URL(fileURLWithPath: path, relativeTo: base).absoluteURL
  }

  package static func isRelative(_ path: String) -> Bool {
    !path.hasPrefix("/") && path != "~" && !path.hasPrefix("~/")
  }

  /// A relative `path` prepended with `prefix`, which is empty or has a trailing `/`.
  static func joined(_ prefix: String, _ path: String) -> String { isRelative(path) ? prefix + path : path }

  /// Everything up to and including the last `/`; empty for a name alone.
  static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }

  /// A key path without its indices: `columns[2].rules[0]` is `columns[].rules[]`.
  static func pattern(_ keyPath: String) -> String {
    // Most have none, and the expression is compiled for each call.
    keyPath.utf8.contains(UInt8(ascii: "[")) ? keyPath.replacing(/\[\d+\]/, with: "[]") : keyPath
  }
}
