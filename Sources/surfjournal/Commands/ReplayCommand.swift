import PipelineEngine

struct ReplayCommand: Command {
  static let name = "replay"
  static let usage = """
    Usage: surfjournal replay REJECTS [options]

    Imports a file of rejects that was mended, by the pipeline that rejected its
    records and into the same store, both as the file beside it (REJECTS.jsonl)
    says. What is rejected again takes the file's place, to be mended and replayed
    once more; the file as it was is kept as REJECTS.replayed. However often it is
    replayed, each record goes in once.

    Options:
          --store PATH           store to import into instead
          --pipeline NAME        pipeline to use instead: its name or the path of
                                 its definition
          --entity ENTITY        entity to fill instead
          --model MODEL          model to use instead: a model file, or one that
                                 is part of the program
          --without-relationships
                                 import also where objects need relationships, and
                                 leave those empty
          --report FILE          also write the report to FILE, which ends in .txt
                                 or .json; may be repeated
          --chunk-rows N         records per save, 1 to 1000000
          --stop-on-error        end at the first record that can't be imported
          --max-errors N         end when more than N records are rejected
          --max-error-percent P  end when more than P percent are rejected
          --atomic               all of the run or, where it does not reach its end,
                                 nothing
          --lock-timeout SECONDS
                                 how long to wait for a store that another program
                                 writes to; without it 10
          --timeout SECONDS      end at the next chunk after so long; 0 for never
          --log FILE             add a log of the run to FILE; - is standard error
          --log-level LEVEL      error, warning, info or debug; without it info
          --log-format FORMAT    text, or json: an object a line; without it text
          --json                 print the summary as JSON
      -q, --quiet                print nothing if nothing is wrong
          --no-progress          show no progress on a terminal
      -h, --help                 show this help
          --version              show the version

    Exit status 65 says that records were rejected again; the others are in
    'surfjournal help'.

    """

  private let session: RunSession?

  init(_ arguments: Arguments) throws(CommandFailure) {
    let rejects = try arguments.onlyOperand("a file of rejects")
    do throws(Replay.RejectsError) {
      if try Replay.finishInterrupted(rejects) {
        Console.report("an interrupted replay of \(rejects) is finished; it holds what is still to be mended")
        session = nil
        return
      }
    } catch {
      throw CommandFailure(error.message, error.exitCode)
    }
    let origin = Replay.origin(of: rejects)
    let pipeline = arguments.string("pipeline") ?? origin?.pipeline
    let (entity, model) = (arguments.string("entity") ?? origin?.entity, arguments.string("model") ?? origin?.model)
    guard pipeline != nil || entity != nil else {
      throw arguments.mistake("there is no \(rejects).jsonl that names the pipeline; add --pipeline NAME")
    }
    let definition = try PipelineDefinition(importing: arguments, pipeline, entity: entity, model: model)
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

  func run() async -> ExitCode { await session?.run() ?? .dataError }
}
