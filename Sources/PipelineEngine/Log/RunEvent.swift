/// Something that happens in a run, as the event log reports it. Names and fields are stable: programs read them.
enum RunEvent: Sendable {
  case runStarted(kind: RunSummary.Kind, pipeline: String, store: String?, inputs: Int)
  case runEnded(RunSummary)
  case lockHeld(message: String)
  case inputOpened(String, bytes: Int?)
  /// It was imported before, so there is nothing to do.
  case inputKnown(String, importedAt: String?)
  /// It continues where an earlier run ended: after `record` records, at a byte of the text.
  case inputResumed(String, record: Int, byte: Int)
  case inputCompleted(String, RunCounts)
  case inputFailed(String, code: IssueCode?, message: String)
  case inputLeftAlone(String, reason: String)
  case inputMoved(String, to: String)
  case inputNotMoved(String, reason: String)
  case chunkSaved(String, record: Int, rows: Int)
  case issue(RecordIssue)
  case outputWritten(String, records: Int, bytes: Int)
  /// Something of an earlier run was removed, as the pipeline's retention says.
  case fileRemoved(String)
  /// Something that the pipeline notifies was notified, by the key that names it.
  case notified(String)
  case notNotified(String, reason: String)
  /// How long the threads of an import stage worked, and waited for the others.
  case stageTimed(StageClock.Stage, StageClock.Times)

  /// A value of a field.
  enum Value: Sendable, Encodable {
    case text(String)
    case integer(Int)
    case real(Double)

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .text(let text): try container.encode(text)
      case .integer(let number): try container.encode(number)
      case .real(let number): try container.encode(number)
      }
    }
  }

  typealias Field = (name: String, value: Value?)

  /// The name in JSON lines.
  var name: String {
    switch self {
    case .runStarted: "run-started"
    case .runEnded: "run-ended"
    case .lockHeld: "lock-held"
    case .inputOpened: "input-opened"
    case .inputKnown: "input-known"
    case .inputResumed: "input-resumed"
    case .inputCompleted: "input-completed"
    case .inputFailed: "input-failed"
    case .inputLeftAlone: "input-left-alone"
    case .inputMoved: "input-moved"
    case .inputNotMoved: "input-not-moved"
    case .chunkSaved: "chunk-saved"
    case .issue: "issue"
    case .outputWritten: "output-written"
    case .fileRemoved: "file-removed"
    case .notified: "notified"
    case .notNotified: "not-notified"
    case .stageTimed: "stage-timed"
    }
  }

  var level: LogDefinition.Level {
    switch self {
    case .runEnded(let summary): summary.outcome == .failed ? .error : summary.exitCode == .ok ? .info : .warning
    case .inputFailed, .lockHeld: .error
    case .inputNotMoved, .notNotified: .warning
    case .issue(let issue): issue.severity == .error ? .error : .warning
    case .chunkSaved, .inputLeftAlone, .stageTimed: .debug
    default: .info
    }
  }

  /// Its values, in the order of a JSON line; fields without a value are omitted there.
  var fields: [Field] {
    switch self {
    case .runStarted(let kind, let pipeline, let store, let inputs):
      return [
        ("kind", .text(kind.rawValue)), ("pipeline", .text(pipeline)), ("store", store.map(Value.text)),
        ("inputs", .integer(inputs)),
      ]
    case .runEnded(let summary):
      return [
        ("kind", .text(summary.kind.rawValue)), ("pipeline", .text(summary.pipeline)),
        ("outcome", .text(summary.outcome.rawValue)), ("exitCode", .integer(Int(summary.exitCode.rawValue))),
        ("seconds", .real(summary.seconds)), ("errors", .integer(summary.issues.errors)),
        ("warnings", .integer(summary.issues.warnings)),
      ]
        + (summary.kind == .export ? [("exported", .integer(summary.exported))] : Self.fields(of: summary.counts))
        + [("message", (summary.failure?.message).map(Value.text))]
    case .lockHeld(let message): return [("message", .text(message))]
    case .inputOpened(let input, let bytes): return [("input", .text(input)), ("bytes", bytes.map(Value.integer))]
    case .inputKnown(let input, let time): return [("input", .text(input)), ("importedAt", time.map(Value.text))]
    case .inputResumed(let input, let record, let byte):
      return [("input", .text(input)), ("record", .integer(record)), ("byte", .integer(byte))]
    case .inputCompleted(let input, let counts): return [("input", .text(input))] + Self.fields(of: counts)
    case .inputFailed(let input, let code, let message):
      return [("input", .text(input)), ("code", (code?.rawValue).map(Value.text)), ("message", .text(message))]
    case .inputLeftAlone(let input, let reason), .inputNotMoved(let input, let reason):
      return [("input", .text(input)), ("reason", .text(reason))]
    case .inputMoved(let input, let path): return [("input", .text(input)), ("to", .text(path))]
    case .chunkSaved(let input, let record, let rows):
      return [("input", .text(input)), ("record", .integer(record)), ("rows", .integer(rows))]
    case .issue(let issue): return Self.fields(of: issue)
    case .outputWritten(let output, let records, let bytes):
      return [("output", .text(output)), ("records", .integer(records)), ("bytes", .integer(bytes))]
    case .fileRemoved(let path): return [("path", .text(path))]
    case .notified(let target): return [("target", .text(target))]
    case .notNotified(let target, let reason): return [("target", .text(target)), ("reason", .text(reason))]
    case .stageTimed(let stage, let times):
      return [
        ("stage", .text(stage.rawValue)), ("threads", .integer(times.threads)),
        ("workedSeconds", .real(times.worked / .seconds(1))), ("waitedSeconds", .real(times.waited / .seconds(1))),
      ]
    }
  }

  private static func fields(of counts: RunCounts) -> [Field] {
    [
      ("read", .integer(counts.read)), ("inserted", .integer(counts.inserted)), ("updated", .integer(counts.updated)),
      ("unchanged", .integer(counts.unchanged)), ("duplicate", .integer(counts.duplicate)),
      ("repeated", .integer(counts.repeated)), ("rejected", .integer(counts.rejected)),
    ]
  }

  private static func fields(of issue: RecordIssue) -> [Field] {
    [
      ("input", .text(issue.input)), ("code", .text(issue.code.rawValue)), ("record", .integer(Int(issue.record))),
      ("line", .integer(Int(issue.line))), ("byte", .integer(Int(issue.byte))),
      ("field", issue.field.map(Value.integer)),
      ("column", issue.column.map(Value.text)), ("value", issue.value.map(Value.text)),
      ("message", .text(issue.message)),
    ]
  }
}

extension RunEvent: CustomStringConvertible {
  /// The sentence of a text event log.
  var description: String {
    switch self {
    case .runStarted(let kind, let pipeline, let store, let inputs):
      let source = kind == .export ? "" : ", \(inputs) \(inputs == 1 ? "input" : "inputs")"
      return "\(kind.rawValue) started: pipeline \(pipeline)\(source)\(store.map { ", store \($0)" } ?? "")"
    case .runEnded(let summary):
      let end = "\(summary.kind.rawValue) \(summary.outcome.rawValue), exit status \(summary.exitCode.rawValue)"
      let counts = summary.kind == .export ? "\(summary.exported) exported" : Self.sentence(summary.counts)
      return "\(end): \(counts)\(summary.failure.map { "; \($0.message)" } ?? "")"
    case .lockHeld(let message): return message
    case .inputOpened(let input, let bytes): return "\(input): opened\(bytes.map { ", \($0) bytes" } ?? "")"
    case .inputKnown(let input, let time):
      return "\(input): already imported\(time.map { ", on \($0)" } ?? ""); nothing to do"
    case .inputResumed(let input, let record, let byte):
      return "\(input): resumed after record \(record), at byte \(byte)"
    case .inputCompleted(let input, let counts): return "\(input): completed: \(Self.sentence(counts))"
    case .inputFailed(_, _, let message): return message
    case .inputLeftAlone(let input, let reason): return "\(input): left alone: \(reason)"
    case .inputMoved(let input, let path): return "\(input): moved to \(path)"
    case .inputNotMoved(let input, let reason): return "\(input): not moved: \(reason)"
    case .chunkSaved(let input, let record, let rows): return "\(input): \(rows) records saved, up to record \(record)"
    case .issue(let issue): return issue.description
    case .outputWritten(let output, let records, let bytes):
      return "\(output): \(records) records written, \(bytes) bytes"
    case .fileRemoved(let path): return "\(path): removed by the pipeline's retention"
    case .notified(let target): return "notified: \(target)"
    case .notNotified(let target, let reason): return "not notified: \(target): \(reason)"
    case .stageTimed(let stage, let times):
      let milliseconds = [times.worked, times.waited].map { "\(Int($0 / .milliseconds(1))) ms" }
      return "stage \(stage.rawValue): worked \(milliseconds[0]), waited \(milliseconds[1])"
    }
  }

  private static func sentence(_ counts: RunCounts) -> String {
    let parts = [
      ("inserted", counts.inserted), ("updated", counts.updated), ("unchanged", counts.unchanged),
      ("duplicate", counts.duplicate), ("repeated", counts.repeated), ("rejected", counts.rejected),
    ].filter { $0.1 > 0 }
    return (["\(counts.read) read"] + parts.map { "\($0.1) \($0.0)" }).joined(separator: ", ")
  }
}
