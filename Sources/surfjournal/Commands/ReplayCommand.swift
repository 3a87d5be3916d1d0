import Foundation
import SystemSupport
import PipelineEngine

struct ReplayCommand: Command {
  static let name = "replay"
  static let takesAddresses = true
  static let usage = """
    Usage: surfjournal replay REJECTS... [options]

    Imports files of corrected rejects, each with the pipeline that rejected its
    records and into the same store; the file next to it (REJECTS.jsonl) names both.
    Records that are rejected again replace the file, to be corrected and replayed
    once more; the previous file is kept as REJECTS.replayed. Each record is
    imported once, however often the file is replayed. A spreadsheet may have saved
    the file with another delimiter or encoding.

    REJECTS may also be a folder, for all files of rejects in it, or a store, for
    those that wait for a correction as 'surfjournal history --pending' lists them.

    Options:
          --store STORE          store to import into instead
          --pipeline NAME        pipeline to use instead: its name or the path of
                                 its definition
          --entity ENTITY        entity to fill instead
          --model MODEL          model to use instead: a model file, or one that
                                 is part of the program
          \(SharedOptions.withoutRelationships)
          \(ReadingOptions.usage)
          --report FILE          also write the report to FILE, which ends in .txt
                                 or .json; may be repeated
          \(SharedOptions.chunkRows)
          --stop-on-error        end at the first record that can't be imported
          \(SharedOptions.maxErrors)
          --atomic               import all of the run or, if it does not reach its
                                 end, nothing
          \(SharedOptions.lockTimeout)
          \(SharedOptions.timeout)
          \(SharedOptions.log)
          \(SharedOptions.summaryAsJSON)
      \(SharedOptions.quiet)
          \(SharedOptions.noProgress)
      \(SharedOptions.help)

    Examples:
      surfjournal replay journal.rejects.csv
      surfjournal replay rejects/july.csv --report replay.html
      surfjournal replay journal.sqlite

    Exit status 65 says that records were rejected again; the others are in
    'surfjournal help'.

    """

  private let arguments: Arguments
  private let files: [String]

  init(_ given: Arguments) throws(CommandFailure) {
    arguments = given
    guard !given.operands.isEmpty else { throw given.mistake("no file of rejects is given; name one") }
    var files: [String] = []
    for operand in given.operands {
      for file in try RejectsOperand(operand).files where !files.contains(file) { files.append(file) }
    }
    if files.count > 1, let option = ["report", "json"].first(where: given.isGiven) {
      throw given.mistake("--\(option) is for one file of rejects; replay the \(files.count) files one by one")
    }
    self.files = files
  }

  /// Replays the files in turn. A file that can't be replayed does not keep the others from it; a run that was stopped
  /// by a signal does.
  func run() async -> ExitCode {
    if files.isEmpty { Console.report("found no rejects to replay") }
    var ending = ExitCode.ok
    for (index, file) in files.enumerated() {
      let status: ExitCode
      do throws(CommandFailure) {
        status = try await replay(file)
      } catch {
        status = error.report()
      }
      if status != .ok, ending == .ok || ending == .dataError { ending = status }
      let left = files[(index + 1)...]
      if TerminationSignals.areReceived, !left.isEmpty {
        Console.report("not replayed: \(left.joined(separator: ", "))")
        break
      }
    }
    return ending
  }

  private func replay(_ rejects: String) async throws(CommandFailure) -> ExitCode {
    let origin: Replay.Origin?
    do throws(Replay.RejectsError) {
      if try Replay.finishInterrupted(rejects, vocabulary: .journal) {
        let hasRest = mayExist(rejects)
        let rest = hasRest ? "it contains the records that still need correction" : "every record is imported"
        Console.report("an interrupted replay of \(rejects) is finished; \(rest)")
        return hasRest ? .dataError : .ok
      }
      origin = try Replay.readOrigin(of: rejects)
    } catch {
      throw CommandFailure(error.message, error.exitCode)
    }
    return try await session(rejects, origin).run()
  }

  private func session(_ rejects: String, _ origin: Replay.Origin?) throws(CommandFailure) -> RunSession {
    let pipeline = arguments.string("pipeline") ?? origin?.pipeline
    let (entity, model) = (arguments.string("entity") ?? origin?.entity, arguments.string("model") ?? origin?.model)
    guard pipeline != nil || entity != nil else {
      if let missing = Self.missing(rejects) { throw missing }
      throw arguments.mistake("\(rejects).jsonl is missing or does not name the pipeline; add --pipeline NAME")
    }
    let isDelimiterGiven = arguments.isGiven("delimiter")
    // What was said of the input that the rejects come from.
    let arguments = arguments.adding(origin?.options ?? [:])
    var definition = try PipelineDefinition(importing: arguments, pipeline, entity: entity, model: model).forRejects
    if !isDelimiterGiven, let delimiter = origin.flatMap({ Replay.delimiter(of: rejects, from: $0, definition) }) {
      definition.dialect.delimiter = delimiter
    }
    var options = try RunOptions(arguments)
    options.inputs = [rejects]
    options.isReplay = true
    options.refer(to: arguments, pipeline: pipeline, entity: entity, model: model)
    options.store = options.store ?? origin?.store
    if options.store == nil, definition.store == nil {
      throw arguments.mistake("\(rejects).jsonl is missing or does not name the store; add --store STORE")
    }
    return RunSession(definition, kind: .import, options: options, arguments: arguments)
  }

  /// The failure for a file of rejects that is not there; nil for one that is.
  private static func missing(_ rejects: String) -> CommandFailure? {
    if mayExist(rejects) { return nil }
    let replayed = rejects + ".replayed"
    let reason = mayExist(replayed) ? "it was replayed, and is kept as \(replayed)" : "check the path"
    return CommandFailure("the file \(rejects) does not exist; \(reason)", .noInput)
  }
}
