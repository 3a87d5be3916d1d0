import Foundation

/// Packages on disk with several versions of a model, in Xcode's source form or compiled.
enum ModelPackage {
  /// The extension of a package, and the extension of each version in it.
  private static let versionExtensions = ["xcdatamodeld": "xcdatamodel", "momd": "mom"]

  static func isPackage(_ url: URL) -> Bool { versionExtensions[url.pathExtension] != nil }

  /// All versions in an `.xcdatamodeld` or a `.momd`, sorted by name.
  static func versions(of folder: URL) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == versionExtensions[folder.pathExtension] }
      .sorted { String.byteOrder($0.lastPathComponent, $1.lastPathComponent) }
  }
}
