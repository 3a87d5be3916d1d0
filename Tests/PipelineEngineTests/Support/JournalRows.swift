import Foundation

/// The rows of a real journal, beside the repository in `../shared/stores`; a plain clone lacks them.
enum JournalRows {
  static let absenceComment: String = "needs ../shared/stores (or SURFJOURNAL_SHARED), which a plain clone lacks"

  static let file: URL = {
    let shared: URL
    if let path = ProcessInfo.processInfo.environment["SURFJOURNAL_SHARED"] {
      shared = URL(fileURLWithPath: path, isDirectory: true)
    } else {
      // Tests/PipelineEngineTests/Support/JournalRows.swift → the package, and its sibling.
      let package = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
      shared = package.deletingLastPathComponent().appendingPathComponent("shared", isDirectory: true)
    }
    return shared.appendingPathComponent("stores/surfjournal-kodeco/surfjournal_rows.csv")
  }()

  static var arePresent: Bool { FileManager.default.fileExists(atPath: file.path) }

  /// The column ZDATE: seconds since 2001-01-01 UTC.
  static func dates() throws -> [Double] {
    try String(decoding: Data(contentsOf: file), as: UTF8.self)
      .split(whereSeparator: \.isNewline).dropFirst()
      .compactMap { row in Double(row.split(separator: ",", omittingEmptySubsequences: false)[1]) }
  }
}
