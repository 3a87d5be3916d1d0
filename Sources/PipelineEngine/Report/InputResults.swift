import Foundation
import PersistentStores

/// The results for one input: the counts of its records, and their issues.
struct InputResults {
  var counts = RunCounts()
  /// What happened to related objects, by entity; none for a pipeline without links.
  var links: [LinkCounts] = []
  var log: IssueLog
  /// Nil where no report shows a profile.
  private var profiler: EntryProfiler?
  /// Nil where no statistics are expected.
  private(set) var statistics: EntryStatistics?

  init(listedMax: Int, profiler: EntryProfiler?, statistics: EntryStatistics?) {
    log = IssueLog(listedMax: listedMax)
    self.profiler = profiler
    self.statistics = statistics
  }

  /// As stored in a checkpoint, so that a resumed run reports the same in the end as an uninterrupted one.
  init(
    counts: RunCounts, kept: Kept, issues: [RecordIssue], listedMax: Int, profiler: EntryProfiler?,
    statistics: EntryStatistics?
  ) {
    self.counts = counts
    links = kept.links ?? []
    self.statistics = statistics
    self.statistics?.resume(kept.statistics, afterRecords: counts.read)
    log = IssueLog(
      listedMax: listedMax, counts: kept.issues, warningCounts: kept.warnings, listed: issues,
      faultCounts: kept.faultCounts)
    guard counts.read > 0 else {
      self.profiler = profiler
      return
    }
    // Where the interrupted run did not count values, the entries before the checkpoint would be missing.
    guard var profiler, let profile = kept.profile.flatMap(EntryProfile.init(keptText:)) else { return }
    profiler.resume(profile, tallies: kept.columns ?? [:])
    self.profiler = profiler
  }

  /// Adds the results of a later part of the same input.
  mutating func add(_ later: InputResults) {
    counts = counts + later.counts
    links = LinkCounts.sum(links, later.links)
    log.merge(later.log)
    statistics = statistics.flatMap { own in later.statistics.map { own.merged(with: $0) } }
    profiler = profiler.flatMap { own in later.profiler.map { own.merged(with: $0) } }
  }

  var profile: EntryProfile? { profiler?.profile }
  var tallies: [ColumnTally] { profiler?.tallies ?? [] }

  mutating func add(_ counts: RunCounts, issues: PackedIssues) {
    self.counts = self.counts + counts
    log.add(issues)
  }

  /// Counts the values of entries that are stored: those of all rows, or of the rows with these numbers.
  mutating func profile(_ entries: ObjectBatch, rows: [Int]? = nil) {
    if let rows { profiler?.add(entries, rows: rows) } else { profiler?.add(entries) }
  }

  /// Counts the values of valid records, without some rows.
  mutating func count(_ entries: ObjectBatch, without rows: @autoclosure () -> Set<Int>) {
    statistics?.add(entries, without: rows())
  }

  /// What a checkpoint stores in one column: all but the counts and the listed issues.
  struct Kept: Sendable, Codable {
    /// By code, warnings included.
    var issues: [IssueCode: Int] = [:]
    var warnings: [IssueCode: Int] = [:]
    /// See ``EntryProfile/keptText``.
    var profile: String?
    var statistics: EntryStatistics.Kept?
    var links: [LinkCounts]?
    /// By the name of the column, see ``ColumnTally/keptText``.
    var columns: [String: String]?
    /// What is wrong with values, as pairs.
    var faults: [FaultCount]?

    struct FaultCount: Sendable, Codable {
      var fault: IssueLog.Fault
      var count: Int
    }

    /// In an order of their own, so that equal counts are stored in equal texts.
    static func faults(_ counts: [IssueLog.Fault: Int]) -> [FaultCount] {
      func order(_ fault: IssueLog.Fault) -> (String, String, String, Int) {
        (fault.code.rawValue, fault.column ?? "", fault.severity.rawValue, fault.rule ?? -1)
      }
      return counts.map { FaultCount(fault: $0, count: $1) }.sorted { order($0.fault) < order($1.fault) }
    }

    var faultCounts: [IssueLog.Fault: Int] {
      Dictionary((faults ?? []).map { ($0.fault, $0.count) }, uniquingKeysWith: +)
    }
  }

  var kept: Kept {
    Kept(
      issues: log.counts, warnings: log.warningCounts, profile: profile?.keptText, statistics: statistics?.kept,
      links: links.isEmpty ? nil : links,
      columns: profiler.map { Dictionary($0.tallies.map { ($0.name, $0.keptText) }, uniquingKeysWith: { $1 }) },
      faults: log.faultCounts.isEmpty ? nil : Kept.faults(log.faultCounts))
  }
}

extension InputResults.Kept {
  var json: String {
    // For most chunks there is nothing to store, and the encoder is slow.
    if issues.isEmpty, profile == nil, statistics == nil, links == nil { return Self.nothing }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? Self.nothing
  }

  private static let nothing = "{}"

  init(json: String) {
    let decoded = json == Self.nothing ? nil : try? JSONDecoder().decode(Self.self, from: Data(json.utf8))
    self = decoded ?? Self()
  }
}
