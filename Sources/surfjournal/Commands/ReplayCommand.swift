import Foundation
import PipelineEngine

struct ReplayCommand: Command {
  static let name = "replay"
  static let usage = """
    Usage: surfjournal replay REJECTS [options]

    Imports a file of corrected rejects with the pipeline that rejected its records
    and into the same store; the file next to it (REJECTS.jsonl) names both. Records
    that are rejected again replace the file, to be corrected and replayed once
    more; the previous file is kept as REJECTS.replayed. Each record is imported
    once, however often the file is replayed.

    Options:
          --store PATH           store to import into instead
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

    Exit status 65 says that records were rejected again; the others are in
    'surfjournal help'.

    """

  private let session: RunSession?
  /// The exit code where the command only had to finish an interrupted replay.
  private var ending = ExitCode.dataError

  init(_ given: Arguments) throws(CommandFailure) {
    let rejects = try given.onlyOperand("a file of rejects")
    let origin: Replay.Origin?
    do throws(Replay.RejectsError) {
      if try Replay.finishInterrupted(rejects) {
        let hasRest = FileManager.default.fileExists(atPath: rejects)
        let rest = hasRest ? "it contains the records that still need correction" : "every record is imported"
        Console.report("an interrupted replay of \(rejects) is finished; \(rest)")
        (session, ending) = (nil, hasRest ? .dataError : .ok)
        return
      }
      origin = try Replay.readOrigin(of: rejects)
    } catch {
      throw CommandFailure(error.message, error.exitCode)
    }
    let pipeline = given.string("pipeline") ?? origin?.pipeline
    let (entity, model) = (given.string("entity") ?? origin?.entity, given.string("model") ?? origin?.model)
    guard pipeline != nil || entity != nil else {
      if let missing = Self.missing(rejects) { throw missing }
      throw given.mistake("there is no \(rejects).jsonl that names the pipeline; add --pipeline NAME")
    }
    // What was said of the input that the rejects come from.
    let arguments = given.adding(origin?.options ?? [:])
    let definition = try PipelineDefinition(importing: arguments, pipeline, entity: entity, model: model).forRejects
    var options = try RunOptions(arguments)
    options.inputs = [rejects]
    options.isReplay = true
    options.refer(to: arguments, pipeline: pipeline, entity: entity, model: model)
    options.store = options.store ?? origin?.store
    if options.store == nil, definition.store == nil {
      throw arguments.mistake("there is no \(rejects).jsonl that names the store; add --store PATH")
    }
    session = RunSession(definition, kind: .import, options: options, arguments: arguments)
  }

  /// The failure for a file of rejects that is not there; nil for one that is.
  private static func missing(_ rejects: String) -> CommandFailure? {
    let files = FileManager.default
    if files.fileExists(atPath: rejects) { return nil }
    let replayed = rejects + ".replayed"
    let reason = files.fileExists(atPath: replayed) ? "it was replayed, and is kept as \(replayed)" : "check the path"
    return CommandFailure("there is no file \(rejects); \(reason)", .noInput)
  }

  func run() async -> ExitCode { await session?.run() ?? ending }
}
