import PipelineEngine

extension Arguments {
  /// Keys of a definition that options change, with those options: a mistake in such a key is reported as one of the
  /// option, if the option was given.
  private static let optionOfKey = [
    ("export.predicate", "where"), ("export.sort", "sort"), ("export.columns", "columns"),
    ("export.output", "output"), ("export.format", "format"), ("export.split.month", "split-month"),
    ("export.split", "split-rows"),
    ("export.split", "split-month"), ("export.incremental", "incremental"), ("export.hash", "hash"),
    ("export.guardFormulas", "guard-formulas"),
    ("model", "model"), ("entity", "entity"), ("key", "key"), ("dialect.columns", "columns"), ("rejects", "rejects"),
    ("report", "report"), ("log", "log"), ("readers", "readers"), ("seed", "output"),
  ]

  /// A mistake in a definition; one in a key that an option has set is a mistake of the command line.
  func failure(_ error: PipelineError) -> CommandFailure {
    let options = error.mistakes.compactMap { mistake in
      Self.optionOfKey.first { mistake.path.hasPrefix($0.0) && isGiven($0.1) }?.1
    }
    guard options.count == error.mistakes.count else {
      return CommandFailure(error)
    }
    return .usage(lines: zip(options, error.mistakes).map { "--\($0): \($1.message)" }, of: command)
  }
}
