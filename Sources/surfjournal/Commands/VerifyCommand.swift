import PipelineEngine
import SurfJournal

struct VerifyCommand: Command {
  static let name = "verify"
  static let storeWord = StoreWord.operand(0)
  static let takesAddresses = true
  static let usage = """
    Usage: surfjournal verify STORE [options]

    Checks what Core Data relies on in a store, of this journal or of any other
    program: integrity, key sequences, entity numbers, dangling keys and join rows,
    order, uniqueness, values, and metadata against the model. It reports what is
    wrong, where, and what to do. The store is not changed.

    Options:
          \(SharedOptions.store)
          \(SharedOptions.storeModel)
          \(SharedOptions.damagedLog)
          --json                 print the result as JSON
          \(SharedOptions.noPager)
      \(SharedOptions.quiet)
      \(SharedOptions.help)

    Examples:
      surfjournal verify journal.sqlite
      surfjournal verify Garage.sqlite --model Garage.xcdatamodeld --json

    Exit status 65 says that there are errors; the others are in
    'surfjournal help'.

    """

  private let store: String
  private let model: String?
  private let readsDamagedWAL: Bool
  private let isJSON: Bool
  private let isQuiet: Bool
  private let arguments: Arguments

  init(_ arguments: Arguments) throws(CommandFailure) {
    self.arguments = arguments
    store = try arguments.onlyOperand("a store")
    model = arguments.string("model")
    readsDamagedWAL = try arguments.readsDamagedWAL()
    isJSON = arguments.has("json")
    isQuiet = arguments.has("quiet")
  }

  func run() async -> ExitCode {
    do throws(StoreReports.Failure) {
      return show(
        try StoreReports.verification(
          of: store, model: model, embeddedModels: [CoreDataStack.modelName], readsDamagedWAL: readsDamagedWAL))
    } catch {
      return CommandFailure(error.description, error.exitCode).report()
    }
  }

  private func show(_ report: StoreReports.Report) -> ExitCode {
    do throws(CommandFailure) {
      if !isQuiet || report.hasFindings {
        if isJSON { try Console.print(report.json, as: .json) } else { try PagedOutput.show(report.text, arguments) }
      }
      return report.exitCode
    } catch {
      // A reader that closes early, such as head, has what it wants.
      return error.lines.isEmpty ? report.exitCode : error.report()
    }
  }
}
