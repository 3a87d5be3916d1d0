import CSV
import Foundation
import SystemSupport

/// What follows a run: its record and the index of all runs, the removal of what is old, the notifications. None of it
/// changes the run's result.
struct RunConclusion {
  /// As it was given, so that the names of its reports have their placeholders.
  private let definition: PipelineDefinition
  private let kind: RunSummary.Kind
  private let options: RunOptions
  private let plan: ReportPlan
  private let records: RunRecords?
  /// The records of the runs before this one.
  private let earlier: [RunRecord]
  private let notifier: Notifier?
  private let isCancelled: @Sendable () -> Bool

  /// - Parameter isCancelled: Ends the wait for the reader of a report that is a FIFO.
  init(
    _ definition: PipelineDefinition, _ kind: RunSummary.Kind, options: RunOptions, plan: ReportPlan,
    unless isCancelled: @escaping @Sendable () -> Bool
  ) {
    (self.definition, self.kind, self.options, self.plan) = (definition, kind, options, plan)
    self.isCancelled = isCancelled
    // A dry run by hand says nothing of how the pipeline is.
    let isOwn = kind != .validate || definition.dryRun
    records = isOwn && options.seed == nil ? RunRecords(definition, options) : nil
    earlier = (records?.records ?? []) + Self.unrecorded(definition, kind, by: records)
    notifier = isOwn && options.notifies && !options.isReplay ? Notifier(definition, now: options.now) : nil
  }

  /// The run that has failed and could not be recorded, if it was the last one.
  private static func unrecorded(
    _ definition: PipelineDefinition, _ kind: RunSummary.Kind, by records: RunRecords?
  ) -> [RunRecord] {
    guard let date = records?.unrecordedFailure else { return [] }
    let failure = RunSummary.Failure(message: "it could not be recorded", exitCode: .ioError)
    let summary = RunSummary(
      kind: kind, pipeline: definition.name, outcome: .failed, failure: failure, startedAt: date, seconds: 0)
    return [RunRecord(summary, reports: [])]
  }

  /// Called before the run.
  func begin() { notifier?.begin() }

  /// The runs before this one, for the chart of a page.
  var recentRuns: [RunPoint] {
    earlier.filter { $0.kind == kind && !$0.isIdle }.suffix(RunPoint.shownMax - 1).map(\.point)
  }

  /// Called after the run.
  ///
  /// - Parameters:
  ///   - written: The reports that it has written.
  ///   - log: Its event log.
  /// - Returns: The summary, which says what could not be notified.
  func end(_ summary: RunSummary, written: [ReportPlan.Report], log: EventLog) -> RunSummary {
    let identities = written.map { stat.of($0.path).map(FileIdentity.init) }
    let existing = zip(written, identities).filter { $1 != nil }.map(\.0)
    // Another run that uses the store removes what is old when it has ended.
    let isBusy = summary.exitCode == .temporaryFailure
    if kind == .import, !isBusy, options.seed == nil, let retention = definition.retention {
      Retention(retention, of: definition, options).apply(keeping: existing.map(\.path), log: log)
    }
    // After the removal, so that the index links only pages that are there.
    record(summary, existing)
    guard let notifier else { return summary }
    let previous = earlier.last { $0.kind == kind && $0.isTelling }
    let results = notifier.end(Notice(summary, after: previous, reports: existing.map(\.path)))
    var undelivered: [String] = []
    for result in results {
      guard let problem = result.problem else {
        log.log(.notified(result.target))
        continue
      }
      log.log(.notNotified(result.target, reason: problem))
      undelivered.append("\(result.target): \(problem)")
      options.warn(
        "a notification was not delivered: \(result.target): \(problem). The result of the run is not affected")
    }
    if undelivered.isEmpty { return summary }
    var amended = summary
    amended.undelivered = undelivered
    // A run that has begun meanwhile may have written its own.
    let own = zip(written, identities).filter { $1 != nil && stat.of($0.path).map(FileIdentity.init) == $1 }.map(\.0)
    var copy = amended
    if !ReportFiles.write(&copy, to: own, of: plan, unless: isCancelled), let failure = copy.failure,
      summary.failure == nil
    {
      options.warn(failure.message)
    }
    return amended
  }

  // MARK: The record

  private func record(_ summary: RunSummary, _ written: [ReportPlan.Report]) {
    guard let records else { return }
    let folder = OutputPath.folder(of: records.path)
    let names = written.filter { $0.isSeries || !summary.hadNothingToDo }.map { report in
      OutputPath.folder(of: report.path) == folder ? String(report.path.dropFirst(folder.count + 1)) : report.path
    }
    var record = RunRecord(summary, reports: names)
    record.isReplay = options.isReplay
    var isRecorded = false
    do {
      try records.append(record) {
        isRecorded = true
        try writeIndexes(summary.store)
      }
    } catch {
      if !isRecorded, record.isTelling, record.hasFailed { records.markFailure() }
      let reason = (error as? RunFailure)?.message ?? (error as? CSVError).map { "\($0)" } ?? "\(error)"
      options.warn("the run can't be added to the index of runs: \(reason)")
    }
  }

  /// Whether the index may be written there. Something else than a file, such as a FIFO, is not the program's.
  private func isIndexOrNone(_ path: String) -> Bool {
    do throws(RegularFileError) {
      return IndexPage.isOwn(try RegularFile.read(path, bytesMax: 4 << 10))
    } catch .otherKind {
      return false
    } catch {
      return true
    }
  }

  /// Writes the page of all runs into each folder that has pages of single runs.
  private func writeIndexes(_ store: String?) throws {
    let folders = Set(RunRecords.series(definition).map { OutputPath.folder(of: definition.path($0)) })
    for folder in folders.sorted() {
      let path = "\(folder)/\(IndexPage.fileName)"
      guard isIndexOrNone(path) else {
        options.warn("\(path) is not an index of runs, so it was left as it is; move it to another folder")
        continue
      }
      let records = RunRecords.all(in: folder).flatMap(\.records)
      let sink = try ByteSink(path: path, permissions: FileRights.ofFile(path, near: store))
      let page = IndexPage(records, program: definition.vocabulary.program) { name in
        stat.of(name.hasPrefix("/") ? name : "\(folder)/\(name)") != nil
      }
      try sink.write(page.html)
      try sink.commit()
    }
  }
}
