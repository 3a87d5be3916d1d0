import Foundation
import TestSupport

/// The rows of a real journal.
enum JournalRows {
  static let file = SharedFiles.journal.appendingPathComponent("surfjournal_rows.csv")

  static var arePresent: Bool { FileManager.default.fileExists(atPath: file.path) }

  /// The column ZDATE: seconds since 2001-01-01 UTC.
  static func dates() throws -> [Double] {
    try String(decoding: Data(contentsOf: file), as: UTF8.self)
      .split(whereSeparator: \.isNewline).dropFirst()
      .compactMap { row in Double(row.split(separator: ",", omittingEmptySubsequences: false)[1]) }
  }
}
