import PipelineEngine

struct DiffCommand: Command {
  static let name = "diff"
  static let takesAddresses = true
  static let usage = """
    Usage: surfjournal diff FILE STORE [options]
           surfjournal diff FILE1 FILE2 [options]

    Shows what an import of FILE that updates entries would add to a store (+),
    change in it (~, with old and new values) and leave as it is, and which entries
    of the store the file does not have (-); or the same of FILE2 compared with
    FILE1. Nothing is changed. Files are read and checked as by an import; a FILE
    may be compressed, and FILE or FILE2 may be -, standard input.

    Entries are the same if their keys are, see --key. Entries whose key occurs more
    than once on a side are listed (!) and not compared. Without a key whole records
    are compared, each as often as it occurs, and none is changed. Only columns that
    the files have are compared; a key of empty fields only is never the same.

    Options:
          \(SharedOptions.store)
          --pipeline NAME        how files are read and checked: a pipeline's name
                                 or the path of its definition; by default
                                 surf-log, unless an entity is named
          --entity ENTITY        compare the objects of this entity; without a
                                 pipeline every attribute with the column of its
                                 name
          \(SharedOptions.model)
          --without-relationships
                                 read files although objects need relationships
          \(ReadingOptions.usage)
          --report FILE          also write the comparison to FILE, which ends in
                                 .txt, .jsonl or .html; may be repeated
          --chunk-rows N         records read at a time, 1 to 1000000
          \(SharedOptions.verifyHash)
          \(SharedOptions.lockTimeout)
          \(SharedOptions.timeout)
          --exit-code            end with status 1 if there are differences
          --json                 print an object for each difference, one per line,
                                 and a last one with the counts
      -q, --quiet                print the counts only
          \(SharedOptions.noProgress)
      \(SharedOptions.help)

    Examples:
      surfjournal diff surf-log.csv --store journal.sqlite --key date,location
      surfjournal diff yesterday.csv today.csv --key date,location --exit-code

    Exit status 65 says that records of a file could not be read, whatever the
    differences are; the others are in 'surfjournal help'.

    """

  private let comparison: ComparisonRun
  private let options: RunOptions
  private let arguments: Arguments

  init(_ arguments: Arguments) throws(CommandFailure) {
    var files = arguments.operands
    var store = arguments.string("store")
    if store == nil, files.count == 2, RejectsOperand.isStore(files[1]) { store = files.removeLast() }
    guard let last = files.last else { throw arguments.mistake("no file is given; name one, or - for standard input") }
    if files.count > 2 { throw arguments.unexpected(files[2]) }
    if store != nil, files.count > 1 {
      throw arguments.mistake("two files and a store are given; leave one of them out")
    }
    if store == nil, files.count < 2 {
      throw arguments.mistake("the second side is missing; name a store with --store PATH, or a second file")
    }
    if arguments.has("json"), arguments.has("quiet") {
      throw arguments.mistake("--json and --quiet exclude each other; leave one out")
    }
    try arguments.requireFiles(files)
    for path in arguments.strings("report") where !ComparisonReports.accepts(path) {
      throw arguments.mistake(
        "--report is '\(path)'; its ending must be \(ComparisonReports.endings), which determines its format")
    }
    var options = RunOptions()
    options.reports = arguments.strings("report")
    options.verifiesHash = arguments.has("verify-hash")
    options.lockTimeoutSeconds = try arguments.seconds("lock-timeout") ?? options.lockTimeoutSeconds
    options.timeoutSeconds = try arguments.seconds("timeout")
    options.refer(to: arguments)
    let old: ComparisonRun.Old = store.map { .store($0) } ?? .file(files[0])
    comparison = ComparisonRun(
      try PipelineDefinition(importing: arguments), options: options, old: old, new: last)
    self.options = options
    self.arguments = arguments
  }

  func run() async -> ExitCode {
    do throws(CommandFailure) {
      let result = try await ReadingSession(arguments).run { control throws(PipelineError) -> FileComparison in
        try await comparison.run(control)
      }
      if let failure = result.failure { throw CommandFailure(failure.message, failure.exitCode) }
      let countsDifferences = arguments.has("exit-code")
      try show(result, countsDifferences: countsDifferences)
      return result.exitCode(countsDifferences: countsDifferences)
    } catch {
      return error.report()
    }
  }

  /// Bytes that are printed at once.
  private static let bytesAtOnce = 1 << 16

  private func show(_ result: FileComparison, countsDifferences: Bool) throws(CommandFailure) {
    var pending = ""
    let isJSON = arguments.has("json")
    func print(_ text: String) throws {
      pending += text
      guard pending.utf8.count >= Self.bytesAtOnce else { return }
      try Console.print(pending, as: isJSON ? .json : .text)
      pending = ""
    }
    do {
      if isJSON {
        try result.writeJSON(countsDifferences: countsDifferences, print)
      } else {
        try result.writeText(showsDifferences: !arguments.has("quiet"), print)
      }
      try Console.print(pending, as: isJSON ? .json : .text)
    } catch {
      throw error as? CommandFailure ?? CommandFailure("the differences can't be read: \(error)", .ioError)
    }
  }
}
