import Foundation

/// The ending of a file's name that says its format, without that of the compression.
package struct FileEnding: Sendable, Hashable {
  /// In lower case, without the dot; empty where the name has none.
  package let text: String

  /// The ending of an input's path, which may be compressed in any of the forms that are read.
  package init(input path: String) {
    let compressed = [".zst", ".xz", ".bz2"].first { path.lowercased().hasSuffix($0) }
    self.init(path: String(path.dropLast(compressed?.count ?? 0)))
  }

  /// The ending of a path; what is not a word, such as the `07` of `log.2014-07`, is part of the name.
  package init(path: String) {
    var name = path.split(separator: "/", omittingEmptySubsequences: false).last.map { $0.lowercased() } ?? ""
    if name.hasSuffix(".gz") { name.removeLast(3) }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count > 1, parts.first != "" || parts.count > 2, let last = parts.last, let first = last.first,
      first.isASCII, first.isLetter || last == "7z", last.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
    else {
      text = ""
      return
    }
    text = String(last)
  }

  /// Whether the ending is one of JSON Lines.
  package var isJSONLines: Bool { text == "jsonl" || text == "ndjson" }
  /// Whether the ending is one of values that are separated by tabs.
  package var isTabs: Bool { text == "tsv" || text == "tab" }
}
