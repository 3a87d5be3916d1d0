import Foundation
import PipelineEngine
import SurfJournal
import TestSupport

extension TemporaryFolder {
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
    _ = try await PipelineRunner(.surfLog, .import, options: options).run()
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
