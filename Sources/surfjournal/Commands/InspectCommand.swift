import PipelineEngine
import SurfJournal

struct InspectCommand: Command {
  static let name = "inspect"
  static let storeWord = StoreWord.operand(0)
  static let takesAddresses = true
  static let usage = """
    Usage: surfjournal inspect STORE [options]

    Shows what is in a Core Data store, of this journal or of any other program: its
    entities with their counts and version hashes, their properties and where they
    are kept, where its model was found, its history, and what is unusual about it.
    The store is not changed.

    Options:
          \(SharedOptions.store)
          \(SharedOptions.storeModel)
          \(SharedOptions.damagedLog)
          --json                 print the result as JSON
          --show-values          show the values of the store's own metadata keys
                                 also where their names look like secrets
          \(SharedOptions.noPager)
      \(SharedOptions.help)

    Examples:
      surfjournal inspect Garage.sqlite
      surfjournal inspect Garage.sqlite --model Garage.xcdatamodeld --json

    """

  private let store: String
  private let model: String?
  private let readsDamagedWAL: Bool
  private let isJSON: Bool
  private let showsSecrets: Bool
  private let arguments: Arguments

  init(_ arguments: Arguments) throws(CommandFailure) {
    self.arguments = arguments
    store = try arguments.onlyOperand("a store")
    model = arguments.string("model")
    readsDamagedWAL = try arguments.readsDamagedWAL()
    isJSON = arguments.has("json")
    showsSecrets = arguments.has("show-values")
  }

  func run() async -> ExitCode {
    do throws(StoreReports.Failure) {
      return show(
        try StoreReports.inspection(
          of: store, model: model, embeddedModels: [CoreDataStack.modelName], vocabulary: .journal,
          readsDamagedWAL: readsDamagedWAL, showsSecrets: showsSecrets))
    } catch {
      return CommandFailure(error.description, error.exitCode).report()
    }
  }

  private func show(_ report: StoreReports.Report) -> ExitCode {
    do throws(CommandFailure) {
      if isJSON { try Console.print(report.json, as: .json) } else { try PagedOutput.show(report.text, arguments) }
      return report.exitCode
    } catch {
      // A reader that closes early, such as head, has what it wants.
      return error.lines.isEmpty ? report.exitCode : error.report()
    }
  }
}
