import Foundation
import TestSupport

/// What a run left: files, rows and texts, without what differs from run to run.
struct LeftFiles: Equatable {
  private let names: [String]
  private let texts: [String: String]
  private let rows: [String: [String]]
  /// What reports say. A run that is repeated after a fault has less to report than one without.
  private let reports: [String: String]

  /// Reads a folder. SQLite must not open the store that is to be run again, so copies are read.
  init(_ folder: TemporaryFolder) throws {
    var texts: [String: String] = [:]
    var rows: [String: [String]] = [:]
    var (names, reports): ([String], [String: String]) = ([], [:])
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).sorted() {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: folder.path(path), isDirectory: &isFolder), !isFolder.boolValue
      else { continue }
      // The dates of old files are earlier.
      let name = path.replacing(/20[2-9]\d-\d\d-\d\d/, with: "DATE")
      names.append(name)
      if path == "s" || path == "seed" {
        rows[name] = try Self.rows(path, in: folder)
      } else if path.contains(".csv") || path == "g.json" {
        texts[name] =
          path.hasSuffix(".gz")
          ? try folder.data(path).base64EncodedString() : Self.plain(try folder.text(path))
      } else if path == "r.json" || path.hasPrefix("reports/") {
        reports[name] = Self.plainReport(try folder.text(path))
      }
    }
    self.names = names
    self.texts = texts
    self.rows = rows
    self.reports = reports
  }

  private static let query = """
    PRAGMA integrity_check;
    SELECT ZDATE, ZHEIGHT, ZPERIOD, ZWIND, ZLOCATION, ZRATING FROM ZJOURNALENTRY ORDER BY 5, 1, 6
    """

  /// What the integrity check says, and the rows; nothing for a file that is still empty, or has no tables yet.
  static func rows(_ store: String, in folder: TemporaryFolder) throws -> [String] {
    let copy = try TemporaryFolder()
    for end in ["", "-wal", "-journal"] where folder.exists(store + end) {
      try FileManager.default.copyItem(at: folder.file(store + end), to: copy.file("s" + end))
    }
    guard try folder.data(store).count > 0 || folder.exists(store + "-wal") else { return [] }
    let output = try Programs.run("/usr/bin/env", ["sqlite3", "-batch", copy.path("s"), query])
    if output.messages.contains("no such table") { return output.text == "ok\n" ? [] : [output.text] }
    let lines = (output.text + output.messages).split(separator: "\n").map(String.init)
    return lines.first == "ok" ? Array(lines.dropFirst()) : lines
  }

  private static func plain(_ text: String) -> String {
    // Each chunk of rejects defines its kinds again, and a failure may end a chunk.
    var kinds: [Substring: Substring] = [:]
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
      guard line.hasPrefix("{\"kind\":") else { return true }
      return kinds.updateValue(line, forKey: line.prefix { $0 != "," }) != line
    }
    return lines.joined(separator: "\n")
      .replacing(/"(run|startedAt|exportedAt|time|date)" ?: ?"[^"]*",?/, with: "")
  }

  private static func plainReport(_ text: String) -> String {
    text.replacing(
      /"(memoryPeakBytes|rowsPerSecond|run|seconds|startedAt|endedAt|uuid|sha256|hash|bytes)" ?: ?("[^"]*"|[0-9.e-]+)/,
      with: ""
    ).replacing(/20[2-9]\d-\d\d-\d\d/, with: "DATE")
  }

  /// The reports that say something else than those of `expected`.
  func changedReports(from expected: LeftFiles) -> [String] {
    expected.reports.sorted { $0.key < $1.key }.compactMap { name, text in
      guard let own = reports[name] else { return "no report \(name)" }
      let lines = [own, text].map { $0.split(separator: "\n") }
      let difference = lines[0].difference(from: lines[1])
      return difference.isEmpty ? nil : "another report \(name): \(difference)"
    }
  }

  /// What differs from `expected`, for people.
  ///
  /// - Parameter remains: Whether a file that is only here may be.
  func differences(from expected: LeftFiles, permitting remains: (String) -> Bool = { _ in false }) -> [String] {
    var found: [String] = []
    let more = Set(names).subtracting(expected.names).filter { !remains($0) }.sorted()
    let missing = Set(expected.names).subtracting(names).sorted()
    if !more.isEmpty { found.append("left over: \(more.joined(separator: ", "))") }
    if !missing.isEmpty { found.append("missing: \(missing.joined(separator: ", "))") }
    for (name, text) in expected.texts.sorted(by: { $0.key < $1.key }) where texts[name] != nil && texts[name] != text {
      found.append("another content: \(name)")
    }
    for (name, expected) in expected.rows.sorted(by: { $0.key < $1.key })
    where rows[name] != nil && rows[name] != expected {
      found.append("rows of \(name): \(Self.difference(rows[name] ?? [], expected))")
    }
    return found
  }

  private static func difference(_ rows: [String], _ expected: [String]) -> String {
    let lost = Set(expected).subtracting(rows).sorted()
    let added = Set(rows).subtracting(expected).sorted()
    return "\(rows.count) instead of \(expected.count); \(lost.count) lost \(lost.prefix(2)), \(added.count) others "
      + "\(added.prefix(2))"
  }
}
