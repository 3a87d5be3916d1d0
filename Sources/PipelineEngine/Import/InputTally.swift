import Foundation

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
  init(_ entry: LedgerEntry, issues: [RecordIssue], listedMax: Int, profiler: EntryProfiler?) {
    counts = entry.counts
    log = IssueLog(
      listedMax: listedMax, counts: entry.tally.issues, warningCounts: entry.tally.warnings, listed: issues)
    // Where the interrupted run did not count them, the entries before the checkpoint would be missing.
    guard var profiler, let kept = entry.tally.profile.flatMap(EntryProfile.init(keptText:)) else { return }
    profiler.resume(kept)
    self.profiler = profiler
  }

  var profile: EntryProfile? { profiler?.profile }

  mutating func add(_ plan: ChunkPlan, of chunk: ParsedChunk) {
    profiler?.add(plan.inserts)
    if !plan.updates.isEmpty { profiler?.add(chunk.batch, rows: plan.updates.map(\.row)) }
    counts = counts + plan.counts
    for issue in plan.issues { log.add(issue) }
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
