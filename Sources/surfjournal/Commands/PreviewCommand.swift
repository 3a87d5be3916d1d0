import PipelineEngine

struct PreviewCommand: Command {
  static let name = "preview"
  static let usage = """
    Usage: surfjournal preview FILE... [options]

    Shows how files would be read, without a store: what is in each column, the
    first and last records, and odd ones, as they are parsed, with their lines. The
    files are read to their end, by the rules of an import. A FILE may be
    compressed, as for import; - is standard input.

    Odd are records that would be rejected or have warnings (the first 10 of each);
    those with the longest text, the smallest or greatest number, the first or last
    date of a column; and a record that alone has its value in a column of at most
    20 different values and at least ten times as many records. The first 100
    columns are looked at for that.

    Options:
          --pipeline NAME        how files are read and checked: a pipeline's name
                                 or the path of its definition; by default
                                 surf-log, unless an entity is named
          \(SharedOptions.filledEntity)
          --model MODEL          model of the entity: a model file (.xcdatamodeld,
                                 .xcdatamodel, .momd, .mom), or a model that is part
                                 of the program
          --without-relationships
                                 read files although objects need relationships
          \(ReadingOptions.usage)
          --records N            how many of the first and of the last records are
                                 shown, 1 to 100; by default 3
          --chunk-rows N         records read at a time, 1 to 1000000
          \(SharedOptions.verifyHash)
          \(SharedOptions.timeout)
          --json                 print the preview as JSON
          \(SharedOptions.noProgress)
          \(SharedOptions.noPager)
      \(SharedOptions.help)

    Values are counted exactly up to 10000 different ones of a column, and 200000 of
    all columns of a file; beyond that, 'more than' is said, and the most frequent
    ones are those of the values that came first.

    Examples:
      surfjournal preview surf-log.csv
      surfjournal preview cars.csv --entity Car --model Garage.xcdatamodeld --json

    Exit status 65 says that records would be rejected; the others are in
    'surfjournal help'.

    """

  private let preview: PreviewRun
  private let options: RunOptions
  private let arguments: Arguments

  init(_ arguments: Arguments) throws(CommandFailure) {
    guard !arguments.operands.isEmpty else {
      throw arguments.mistake("no file is given; name one, or - for standard input")
    }
    var options = RunOptions()
    options.inputs = arguments.operands
    options.verifiesHash = arguments.has("verify-hash")
    options.timeoutSeconds = try arguments.seconds("timeout")
    options.refer(to: arguments)
    let definition = try PipelineDefinition(importing: arguments)
    let records = try arguments.integer("records", in: PreviewRun.recordsRange)
    preview = PreviewRun(definition, options: options, recordsMax: records ?? PreviewRun.recordsDefault)
    self.options = options
    self.arguments = arguments
  }

  func run() async -> ExitCode {
    do throws(CommandFailure) {
      let shown = try await ReadingSession(arguments).run { control throws(PipelineError) -> Preview in
        try await preview.run(control)
      }
      if let failure = shown.failure {
        Console.report(failure.message)
        if let hint = GuessHint(after: failure, of: options, arguments: arguments) { Console.report(hint.text) }
      }
      let isJSON = arguments.has("json")
      if isJSON {
        try Console.print(try json(shown), as: .json)
      } else {
        try PagedOutput.show(shown.text(), arguments)
      }
      return shown.exitCode
    } catch {
      return error.report()
    }
  }

  private func json(_ preview: Preview) throws(CommandFailure) -> String {
    do {
      return try preview.json()
    } catch {
      throw CommandFailure("the preview can't be written as JSON: \(error). This is a fault of the program", .software)
    }
  }
}
