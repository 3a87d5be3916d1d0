import Foundation
import OpenCoreData

/// What a run has to say of one input: its records, and what is wrong with them.
struct InputTally {
  var counts = RunCounts()
  var log: IssueLog
  /// Nil where nobody will see it.
  private var profiler: EntryProfiler?

  init(listedMax: Int, profiler: EntryProfiler?) {
    log = IssueLog(listedMax: listedMax)
    self.profiler = profiler
  }

  /// As a checkpoint has it: so that a run that goes on says the same in the end as one that was not interrupted.
  init(counts: RunCounts, rest: Rest, issues: [RecordIssue], listedMax: Int, profiler: EntryProfiler?) {
    self.counts = counts
    log = IssueLog(listedMax: listedMax, counts: rest.issues, warningCounts: rest.warnings, listed: issues)
    // Where the interrupted run did not count them, the entries before the checkpoint would be missing.
    guard var profiler, let kept = rest.profile.flatMap(EntryProfile.init(keptText:)) else { return }
    profiler.resume(kept)
    self.profiler = profiler
  }

  var profile: EntryProfile? { profiler?.profile }

  mutating func add(_ counts: RunCounts, issues: [RecordIssue]) {
    self.counts = self.counts + counts
    for issue in issues { log.add(issue) }
  }

  /// Counts the values of entries that are stored: those of all rows, or of the rows with these numbers.
  mutating func profile(_ entries: ObjectBatch, rows: [Int]? = nil) {
    if let rows { profiler?.add(entries, rows: rows) } else { profiler?.add(entries) }
  }

  /// What a checkpoint keeps in one column: all but the counts and the listed issues.
  struct Rest: Sendable, Codable {
    /// By code, warnings included.
    var issues: [IssueCode: Int] = [:]
    var warnings: [IssueCode: Int] = [:]
    /// See ``EntryProfile/keptText``.
    var profile: String?
  }

  var rest: Rest {
    Rest(issues: log.counts, warnings: log.warningCounts, profile: profile?.keptText)
  }
}

extension InputTally.Rest {
  var json: String {
    // Of most chunks there is nothing to say, and the encoder takes its time.
    if issues.isEmpty, profile == nil { return "{}" }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  init(json: String) {
    self = (try? JSONDecoder().decode(Self.self, from: Data(json.utf8))) ?? Self()
  }
}
