import Foundation

/// Paths as definitions write them: from the home directory, from the root, or from a folder.
package enum DefinitionPath {
  /// The place that a path means; a relative one starts at `folder`, the current directory when `nil`.
  package static func url(_ path: String, from folder: URL?) -> URL {
    if path == "~" || path.hasPrefix("~/") {
      let home = FileManager.default.homeDirectoryForCurrentUser
      return path == "~" ? home : home.appendingPathComponent(String(path.dropFirst(2)))
    }
    // A folder's URL without a slash at its end would lose its last name.
    let base = folder.map { URL(fileURLWithPath: $0.path, isDirectory: true) }
    return URL(fileURLWithPath: path, relativeTo: base).absoluteURL
  }

  package static func isRelative(_ path: String) -> Bool {
    !path.hasPrefix("/") && path != "~" && !path.hasPrefix("~/")
  }

  /// `path` as it is called from where `prefix` (empty, or with a `/` at its end) leads away.
  static func joined(_ prefix: String, _ path: String) -> String { isRelative(path) ? prefix + path : path }

  /// All up to the last `/`, it included; empty for a name alone.
  static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }

  /// A key path without its indices: `columns[2].rules[0]` is `columns[].rules[]`.
  static func pattern(_ keyPath: String) -> String { keyPath.replacing(/\[\d+\]/, with: "[]") }
}
