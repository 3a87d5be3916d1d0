import CSV

/// Words why an input, or the rest of it, is not imported, with what of it is in the store.
struct ImportFailures {
  private let name: String
  private let environment: ImportEnvironment
  private var definition: PipelineDefinition { environment.definition }

  /// - Parameter name: The input's name.
  init(of name: String, _ environment: ImportEnvironment) {
    (self.name, self.environment) = (name, environment)
  }

  /// The failure of an input that can't be read any further. What was saved of damaged data may be wrong.
  func failure(_ error: CSVError, after counts: RunCounts) -> RunFailure {
    let failure = RunFailure(error)
    let saved = counts.inserted + counts.updated
    let isSaved = saved > 0 && !definition.atomic && !environment.savesInputsWhole && !environment.isDryRun
    guard failure.code == .compressionError, isSaved else { return failure }
    var explained = RunFailure(
      code: failure.code, exitCode: failure.exitCode,
      message: failure.message
        + ". \(saved == 1 ? "1 entry of it is" : "\(saved.grouped) entries of it are") in the store; if the data "
        + "were altered and not only cut short, values of these may be wrong"
        + (definition.key.isEmpty ? ": import the good file with --replace" : ""))
    (explained.line, explained.byte) = (failure.line, failure.byte)
    return explained
  }

  /// Why the input, or the rest of it, is not read.
  func refusal(_ issue: RecordIssue, after counts: RunCounts) -> RunFailure {
    let saved = counts.read
    let records = saved == 1 ? "record 1 is" : "records 1 to \(saved.grouped) are"
    return Self.refusal(
      of: name, issue, advice: saved == 0 || definition.atomic ? "" : "; \(records) in the store already")
  }

  /// Why an input is not read, with what else there is to say.
  static func refusal(of name: String, _ issue: RecordIssue, advice: String) -> RunFailure {
    let subject =
      issue.code == .dateOrder
      ? "the dates of '\(issue.column ?? "")' can't be read with certainty" : "the header does not match the pipeline"
    var failure = RunFailure(
      code: issue.code, exitCode: .dataError, message: "\(name): \(subject): \(issue.message)\(advice)")
    failure.isNoted = true
    return failure
  }

  /// An input that replaces others has no records.
  var onlyDeletes: RunFailure {
    RunFailure(
      code: .inputRefused, exitCode: .dataError,
      message: "\(name) has no records, so it would only delete what it had inserted; do that with "
        + "'\(definition.vocabulary.program) undo'")
  }

  /// Why the run stops.
  ///
  /// - Parameter saved: How many records precede the chunk that is not saved.
  func stop(_ reason: String, after saved: Int) -> String {
    if definition.atomic { return reason }
    if environment.savesInputsWhole { return "\(reason); nothing of \(name) is in the store" }
    if saved == 0 { return "\(reason); nothing of \(name) was imported" }
    return "\(reason); only \(saved == 1 ? "record 1" : "records 1 to \(saved.grouped)") of \(name) "
      + "\(saved == 1 ? "was" : "were") imported"
  }
}
