import Foundation
import PipelineEngine
import SurfJournal

/// A folder of a test's own, removed with it.
final class TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("SurfJournalTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    // A test may have taken the permission to remove what is in it.
    for name in (try? FileManager.default.subpathsOfDirectory(atPath: url.path)) ?? [] {
      try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path(name))
    }
    try? FileManager.default.removeItem(at: url)
  }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }
  func data(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path(name))) }
  func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path(name))) }

  /// Everything in it, sorted.
  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
  }

  /// Every file's bytes by name.
  var contents: [String: Data] {
    get throws { Dictionary(uniqueKeysWithValues: try names.map { ($0, try data($0)) }) }
  }

  /// Imports a log of as many entries, the n-th at `Place n` and rated `n % 5 + 1`, one a day.
  func makeStore(_ name: String, entries: Int) async throws {
    let start = 400_000_000.0
    let lines = (1...entries).map { number in
      "\(DateText.iso8601(start + 86_400 * Double(number)) ?? ""),3.9,12,Glassy,Place \(number),\(number % 5 + 1)\n"
    }
    try write("date,height,period,wind,location,rating\n" + lines.joined(), to: "\(name).csv")
    var options = RunOptions()
    options.inputs = [path("\(name).csv")]
    options.store = path(name)
    _ = try await PipelineRunner(.surfLog, .import, options).run()
    try FileManager.default.removeItem(atPath: path("\(name).csv"))
  }

  /// What is in a store, by ID.
  func entries(_ store: String) throws -> [Int64: JournalRecord] {
    var found: [Int64: JournalRecord] = [:]
    let journal = try Journal(store: path(store))
    defer { journal.close() }
    try journal.walk { records in
      for record in records { found[record.id ?? 0] = record }
      return true
    }
    return found
  }
}
