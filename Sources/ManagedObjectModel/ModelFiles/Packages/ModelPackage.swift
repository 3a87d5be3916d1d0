import Foundation

/// Packages on disk with several versions of a model, in Xcode's source form or compiled.
enum ModelPackage {
  /// The extension of a package, and the extension of each version in it.
  private static let versionExtensions = ["xcdatamodeld": "xcdatamodel", "momd": "mom"]

  static func isPackage(_ url: URL) -> Bool { versionExtensions[url.pathExtension] != nil }

  /// Larger model files are refused.
  static let fileBytesMax = 64 << 20

  /// The bytes of a file of a model.
  ///
  /// - Throws: `NSError` with `problem`: 260 for a file that is missing or not readable for this user, 256 for one that
  ///   the system does not read, 259 for one that is too large.
  static func contents(of file: URL, _ problem: String) throws -> Data {
    var status = stat()
    if stat(file.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > fileBytesMax {
      throw ModelFileError(
        file: file, line: nil, problem: "It has more than \(fileBytesMax >> 20) MiB, more than any model.",
        advice: "Check that it is the model's file."
      ).nsError
    }
    do {
      return try Data(contentsOf: file)
    } catch {
      throw ModelFileError.unreadable(file, problem, cause: error)
    }
  }

  /// All versions in an `.xcdatamodeld` or a `.momd`, sorted by name.
  static func versions(of folder: URL) throws -> [URL] {
    // A link to a folder is not listed.
    try FileManager.default.contentsOfDirectory(at: folder.resolvingSymlinksInPath(), includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == versionExtensions[folder.pathExtension] }
      .sorted { String.byteOrder($0.lastPathComponent, $1.lastPathComponent) }
  }
}
