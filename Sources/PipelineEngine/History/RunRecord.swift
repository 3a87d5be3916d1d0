import Foundation

/// What one run came to, in the words of its report.
struct RunRecord: Sendable, Hashable, Codable {
  var run: String?
  var pipeline: String
  var kind: RunSummary.Kind
  var startedAt: Date
  var seconds: Double
  var outcome: RunSummary.Outcome
  var exitCode: Int32
  var tone: RunVerdict.Tone
  var headline: String
  /// Why the run failed or was stopped.
  var reason: String?
  var read = 0
  var inserted = 0
  var updated = 0
  var rejected = 0
  var exported = 0
  var errors = 0
  var warnings = 0
  /// Whether it found nothing to do.
  var isIdle = false
  /// Whether a person has replayed rejects, which says nothing of the next run.
  var isReplay = false
  /// The reports that it wrote, as paths relative to the file of records where they are in its folder.
  var reports: [String] = []

  init(_ summary: RunSummary, reports: [String]) {
    let verdict = summary.verdict
    (run, pipeline, kind) = (summary.run, summary.pipeline, summary.kind)
    (startedAt, seconds, outcome) = (summary.startedAt, summary.seconds, summary.outcome)
    (exitCode, tone, headline) = (summary.exitCode.rawValue, verdict.tone, verdict.headline)
    reason = summary.failure?.message ?? summary.stopReason
    (read, inserted, updated) = (summary.counts.read, summary.counts.inserted, summary.counts.updated)
    (rejected, exported) = (summary.counts.rejected, summary.exported)
    (errors, warnings) = (summary.issues.errors, summary.issues.warnings)
    isIdle = summary.hadNothingToDo
    self.reports = reports
  }

  /// Whether it says how the pipeline is. A replay does not, nor a run that had nothing to do, or that another run kept
  /// from beginning, or a person has cancelled.
  var isTelling: Bool {
    let wasKept = exitCode == ExitCode.temporaryFailure.rawValue
    let wasTimedOut = outcome == .cancelled && reason != nil
    return !isIdle && !isReplay && (!wasKept || wasTimedOut)
  }

  var hasFailed: Bool { exitCode != ExitCode.ok.rawValue }

  /// Records read, or entries exported.
  var size: Int { kind == .export ? exported : read }

  /// The run as a point of a chart.
  var point: RunPoint {
    RunPoint(
      startedAt: startedAt, size: size, rejected: rejected, headline: headline,
      hasFailed: hasFailed && outcome != .completed)
  }
}
