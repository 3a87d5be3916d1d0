import PipelineEngine

extension RunOptions {
  /// What the options that every run has say.
  init(_ arguments: Arguments) throws(CommandFailure) {
    self.init()
    // A seed is no store that others may be writing to.
    if arguments.isGiven("store") { store = arguments.string("store") }
    if arguments.isGiven("lock-timeout"), let seconds = try arguments.seconds("lock-timeout") {
      lockTimeoutSeconds = seconds
    }
    timeoutSeconds = try arguments.seconds("timeout")
    logFile = arguments.string("log")
    logLevel = try arguments.choice("log-level", LogDefinition.Level.self)
    logFormat = try arguments.choice("log-format", LogDefinition.Format.self)
    isQuiet = arguments.has("quiet")
    let reports = arguments.strings("report")
    for path in reports where ReportFormat(path: path) == nil {
      throw arguments.mistake(
        "--report is '\(path)'; its ending must be \(ReportFormat.endings), which says how it is written")
    }
    if !reports.isEmpty { self.reports = reports }
  }
}

extension PipelineDefinition {
  /// The definition that `--pipeline` names, or the default, with what the options of an import change.
  init(importing arguments: Arguments, _ pipeline: String? = nil) throws(CommandFailure) {
    self =
      try (pipeline ?? arguments.string("pipeline")).map { name throws(CommandFailure) in try PipelineCatalog.find(name)
      }
      ?? .surfLog
    if let rows = try arguments.integer("chunk-rows", in: Self.chunkRowsRange) { chunkRows = rows }
    if arguments.isGiven("atomic") { atomic = true }
    let errors = try arguments.integer("max-errors", in: 0...Int.max)
    let percent = try arguments.percent("max-error-percent")
    if errors != nil || percent != nil {
      if arguments.has("stop-on-error") {
        throw arguments.mistake("--stop-on-error ends at the first error; leave it or the maximum out")
      }
      (errorPolicy, errorBudget) = (.skip, ErrorBudget(errors: errors, percent: percent))
    }
    if arguments.has("stop-on-error") { (errorPolicy, errorBudget) = (.stop, nil) }
  }
}
