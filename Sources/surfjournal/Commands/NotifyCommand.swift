import Foundation
import PipelineEngine

struct NotifyCommand: Command {
  static let name = "notify"
  static let usage = """
    Usage: surfjournal notify PIPELINE [options]

    Sends a test of what a pipeline notifies, to everything that its definition
    names: its commands are started, its webhooks and its ping are called, its mails
    are sent. The message says that it is a test. Nothing is imported.

    Options:
          --event EVENT          what the test is of: failure (the default),
                                 recovery, drift or success
      \(SharedOptions.quiet)
      \(SharedOptions.help)

    Examples:
      surfjournal notify nightly.json
      surfjournal notify nightly.json --event recovery

    Exit status 74 says that something could not be notified.

    """

  private let notifier: Notifier
  private let event: NotifyDefinition.Event
  private let isQuiet: Bool

  init(_ arguments: Arguments) throws(CommandFailure) {
    let name = try arguments.onlyOperand("a pipeline")
    let definition = try PipelineCatalog.find(name)
    guard let notifier = Notifier(definition) else {
      throw CommandFailure(
        "the pipeline '\(definition.name)' notifies nothing; add \"notify\" to its definition", .configuration)
    }
    self.notifier = notifier
    let events: [NotifyDefinition.Event] = [.failure, .recovery, .drift, .success]
    let requested = arguments.string("event") ?? NotifyDefinition.Event.failure.rawValue
    guard let event = events.first(where: { $0.rawValue == requested }) else {
      let names = events.map(\.rawValue)
      throw arguments.mistake(
        "--event is '\(requested)', and must be one of \(names.joined(separator: ", "))\(NearestName.hint(for: requested, in: names))"
      )
    }
    self.event = event
    isQuiet = arguments.has("quiet")
  }

  func run() async -> ExitCode {
    let results = notifier.test(event)
    do throws(CommandFailure) {
      for result in results {
        if let problem = result.problem {
          Console.report("not notified: \(result.target): \(problem)")
        } else if !isQuiet {
          try Console.print("notified: \(RawText.oneLine(result.target))\n")
        }
      }
    } catch {
      return error.report()
    }
    return results.contains { $0.problem != nil } ? .ioError : .ok
  }
}
