import Foundation

/// The repository that the tests belong to.
package enum Repository {
  /// Tests/TestSupport/Repository.swift → the package.
  package static let root = (0..<3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent()
  }

  package static func file(_ path: String) -> URL { root.appendingPathComponent(path) }
  package static func path(_ path: String) -> String { file(path).path }
}
