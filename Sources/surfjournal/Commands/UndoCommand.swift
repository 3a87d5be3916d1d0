import PipelineEngine
import SurfJournal

struct UndoCommand: Command {
  static let name = "undo"
  static let takesAddresses = true
  static let storeWord = StoreWord.operand(0)
  static let usage = """
    Usage: surfjournal undo STORE [RUN | INPUT]... [options]

    Takes back an import: deletes the entries that it inserted, and gives the ones
    that it updated their former values back, all or nothing. RUN is the number of a
    run as 'surfjournal history' shows it, or its beginning; INPUT is the path of a
    file as it was imported. Without either it is the last run. Several are taken
    back together, as runs need that saved in turn because one was interrupted. At a
    terminal the program says what would go, and asks.

    Nothing is taken back if one of the entries was changed since, unless you say
    that such entries stay. Afterwards the files can be imported again.

    Options:
          \(SharedOptions.store)
          \(SharedOptions.model)
          --keep-changed         leave entries that were changed since as they are,
                                 and take back the rest
      -y, --yes                  take back without asking
      -n, --dry-run              say what would be taken back, and change nothing
          \(SharedOptions.lockTimeout)
          --json                 print what is taken back as JSON
      \(SharedOptions.quiet)
      \(SharedOptions.help)

    Examples:
      surfjournal undo journal.sqlite --dry-run
      surfjournal undo journal.sqlite surf-log.csv --yes

    Exit status 65 says that the import can't be taken back, 66 that the import was
    not found, 75 that another import is using the store; the others are in
    'surfjournal help'. Answering no is not an error.

    """

  /// The output of `--json`.
  private struct Result: Encodable {
    let store: String
    let undone: Bool
    let undo: StoreUndo.Preview
  }

  private let store: String
  /// Without a password.
  private var shownStore: String { StoreLocation(store).shown }
  private let subjects: [String]
  private let model: String?
  private let timeoutSeconds: Double
  private let keepsChanged: Bool
  private let isDryRun: Bool
  private let asks: Bool
  private let display: (isJSON: Bool, isQuiet: Bool)

  init(_ arguments: Arguments) throws(CommandFailure) {
    guard let store = arguments.operands.first else { throw arguments.mistake("no store is given; name one") }
    self.store = store
    subjects = Array(arguments.operands.dropFirst())
    model = arguments.string("model")
    timeoutSeconds = try arguments.seconds("lock-timeout") ?? 10
    (isDryRun, keepsChanged) = (arguments.has("dry-run"), arguments.has("keep-changed"))
    if isDryRun, arguments.has("yes") {
      throw arguments.mistake("--dry-run and --yes exclude each other; leave one out")
    }
    asks = !isDryRun && !arguments.has("yes")
    if asks, !Console.isInputTerminal {
      throw arguments.mistake(
        "can't ask for confirmation, as standard input is not a terminal; add --yes to undo without a question, or "
          + "--dry-run to change nothing")
    }
    display = (arguments.has("json"), arguments.has("quiet"))
  }

  func run() async -> ExitCode {
    do throws(StoreUndo.Failure) {
      let undo = try StoreUndo(
        store: store, subjects, vocabulary: .journal, model: model, timeoutSeconds: timeoutSeconds,
        keepsChanged: keepsChanged)
      if let loss = undo.preview.loss { Console.report("warning: \(loss)") }
      var isConfirmed = !isDryRun
      if asks {
        Console.show(Self.text(undo.preview, isDone: false))
        isConfirmed = Console.ask("Undo? [y/N] ")
      }
      if isConfirmed { try undo.apply() }
      return show(undo.preview, isUndone: isConfirmed)
    } catch {
      return CommandFailure(error.description, error.exitCode).report()
    }
  }

  private func show(_ preview: StoreUndo.Preview, isUndone: Bool) -> ExitCode {
    do throws(CommandFailure) {
      if display.isJSON {
        try Console.print(try Console.json(Result(store: shownStore, undone: isUndone, undo: preview)), as: .json)
      } else if !display.isQuiet {
        // After a question it is already visible what would go.
        if isUndone || !asks { try Console.print(Self.text(preview, isDone: isUndone)) }
        if !isUndone { Console.report(isDryRun ? "nothing was changed: a dry run" : "cancelled; nothing was changed") }
      }
      return .ok
    } catch {
      return error.report()
    }
  }

  private static func text(_ preview: StoreUndo.Preview, isDone: Bool) -> String {
    func counted(_ count: Int, _ text: String, verb: String) -> String {
      let subject = count == 1 ? "1 entry" : "\(count.grouped) entries"
      return "  \(subject) \(text) \(isDone ? (count == 1 ? "was" : "were") : "would be") \(verb)\n"
    }
    let inputs = RawText.oneLine(preview.inputs.joined(separator: ", "))
    var text = "Import of \(inputs), run \(preview.runs.joined(separator: ", ")):\n"
    if preview.deleted > 0 || preview.restored == 0 {
      text += counted(preview.deleted, "that it inserted", verb: "deleted")
    }
    if preview.restored > 0 { text += counted(preview.restored, "that it updated", verb: "set back") }
    if preview.changed > 0 {
      text +=
        "  \(preview.changed == 1 ? "1 entry that was changed since stays" : "\(preview.changed.grouped) entries that were changed since stay")"
        + "; importing the files again would store \(preview.changed == 1 ? "it" : "them") a second time, unless "
        + "they have a key\n"
    }
    if preview.missing > 0 {
      text +=
        "  \(preview.missing == 1 ? "1 entry has" : "\(preview.missing.grouped) entries have") been deleted "
        + "since\n"
    }
    if preview.gone > 0 {
      text +=
        "  \(preview.gone == 1 ? "1 object has" : "\(preview.gone.grouped) objects have") been deleted since that "
        + "entries led to; these links stay out\n"
    }
    for kept in preview.kept {
      text += "  \(kept.created) \(kept.entity) that it created stay\(kept.created == 1 ? "s" : "")\n"
    }
    for path in preview.outdated {
      text +=
        "  \(RawText.oneLine(path)), imported later, left out records that the store had; import it again "
        + "afterwards\n"
    }
    return text
  }
}
