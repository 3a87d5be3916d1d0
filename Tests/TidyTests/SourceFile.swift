import Foundation

/// A text file of the repository, by its path from the root.
struct SourceFile: Sendable {
  let path: String
  let lines: [String]
  /// The lines of a Swift file with blanks for comments and for the text of string literals; else `lines`.
  let code: [String]

  init(path: String, text: String) {
    self.path = path
    lines = Self.split(text)
    code = path.hasSuffix(".swift") ? Self.split(SwiftMask.code(of: text)) : lines
  }

  private static func split(_ text: String) -> [String] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last == "" { lines.removeLast() }
    return lines
  }

  var isSwift: Bool { path.hasSuffix(".swift") }

  func lies(in folder: String) -> Bool { path.hasPrefix(folder + "/") }

  /// `OpenCoreData` for a file of `Sources/OpenCoreData`, nil outside `Sources`.
  var module: String? {
    let parts = path.split(separator: "/")
    return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
  }
}

/// The files of the repository that people write.
enum Repository {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static let files: [SourceFile] = {
    let top = ["Package.swift", "Makefile", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
    let folders = ["Sources", "Tests", "Pipelines", "SampleData", "docs", ".ci", "Packaging"]
    return (top + folders.flatMap(paths(below:))).sorted().compactMap { path in
      guard let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8) else {
        return nil
      }
      return SourceFile(path: path, text: text)
    }
  }()

  private static let endings: Set<String> = ["swift", "md", "json", "py", "h", "modulemap", ""]

  private static func paths(below folder: String) -> [String] {
    let found = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
    let names = (found?.allObjects ?? []).compactMap { $0 as? String }
    // A nested package builds in its own folder.
    return names.filter { !$0.contains(".build/") && endings.contains(URL(filePath: $0).pathExtension) }
      .map { "\(folder)/\($0)" }
  }
}
