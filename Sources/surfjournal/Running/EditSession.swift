import Foundation
import PipelineEngine
import SurfJournal

/// Shows an edit, asks whether to save it, and saves or discards it.
struct EditSession: Sendable {
  enum Action: String, Encodable {
    case add, edit, delete

    var question: String { self == .delete ? "Delete? [y/N] " : "Save? [y/N] " }
    var participle: String {
      switch self {
      case .add: "added"
      case .edit: "changed"
      case .delete: "deleted"
      }
    }
  }

  /// The output of `--json`.
  private struct Result: Encodable {
    struct Entry: Encodable {
      let before: JournalRecord?
      let after: JournalRecord?

      private enum CodingKeys: String, CodingKey { case before, after }

      /// Encodes null for an entry that does not exist.
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(before, forKey: .before)
        try container.encode(after, forKey: .after)
      }
    }

    let action: Action
    let store: String
    let saved: Bool
    let entries: [Entry]
    /// The effects of a deletion; nil for the journal's entries.
    let effects: DeletionEffects?
  }

  private let action: Action
  private let editor: JournalEditor
  private let isOfEntity: Bool
  private let asks: Bool
  private let isJSON: Bool
  private let isQuiet: Bool

  init(_ action: Action, of kind: ObjectKind, _ arguments: Arguments) throws(CommandFailure) {
    self.action = action
    isOfEntity = arguments.isOfEntity
    let isDryRun = arguments.has("dry-run")
    if isDryRun, arguments.has("yes") {
      throw arguments.mistake("--dry-run and --yes exclude each other; leave one out")
    }
    editor = JournalEditor(
      store: try arguments.journalStore(), kind, isDryRun: isDryRun,
      timeoutSeconds: try arguments.seconds("lock-timeout") ?? 10)
    asks = !isDryRun && !arguments.has("yes")
    if asks, !Console.isInputTerminal {
      throw arguments.mistake(
        "can't ask for confirmation, as standard input is not a terminal; add --yes to "
          + "\(action == .delete ? "delete" : "save") without a question, or --dry-run to change nothing"
      )
    }
    isJSON = arguments.has("json")
    isQuiet = arguments.has("quiet")
  }

  func run(_ makeEdit: (JournalEditor) throws(JournalError) -> JournalEdit) -> ExitCode {
    do {
      let edit = try makeEdit(editor)
      if let loss = edit.loss { Console.report("warning: incomplete-wal: \(loss)") }
      let isSaved = try isConfirmed(edit)
      let entries = isSaved ? try edit.save() : edit.entries
      if !isSaved { edit.discard() }
      try show(entries, edit.effects, isSaved: isSaved)
      return .ok
    } catch {
      return CommandFailure(journal: error).report()
    }
  }

  private func isConfirmed(_ edit: JournalEdit) throws -> Bool {
    if edit.isEmpty || editor.isDryRun { return false }
    guard asks else { return true }
    // The question must be visible where the answer is typed, wherever results go.
    Console.show(edit.entries.map(\.difference).joined() + edit.effects.text)
    // An interruption means no. The edit closes the store properly, so that no WAL is left next to it.
    let signals = TerminationSignals([SIGINT, SIGTERM, SIGHUP]) { number in
      edit.discard()
      TerminationSignals.endProcess(by: number)
    }
    defer { withExtendedLifetime(signals) {} }
    return Console.ask(action.question)
  }

  private func show(
    _ entries: [JournalEdit.Entry], _ effects: DeletionEffects, isSaved: Bool
  ) throws(CommandFailure) {
    if isJSON {
      let shown = entries.map { Result.Entry(before: $0.before, after: $0.after) }
      let result = Result(
        action: action, store: editor.store, saved: isSaved, entries: shown,
        effects: isOfEntity && action == .delete ? effects : nil)
      return try Console.print(try Console.json(result), as: .json)
    }
    if isQuiet { return }
    // After a question the entries are already visible.
    if !asks { try Console.print(entries.map(\.difference).joined() + effects.text) }
    let verb = action == .delete ? "deleted" : "saved"
    guard isSaved else {
      let reason =
        entries.isEmpty
        ? "the \(isOfEntity ? "object" : "entry") was not found"
        : entries.allSatisfy(\.isUnchanged) ? "nothing differs" : editor.isDryRun ? "a dry run" : nil
      return Console.report(reason.map { "nothing was \(verb): \($0)" } ?? "cancelled; nothing was \(verb)")
    }
    let ids = entries.compactMap { $0.after?.id ?? $0.before?.id }.map(String.init).joined(separator: ", ")
    try Console.print("\(ids) \(action.participle)\n")
  }
}

extension CommandFailure {
  /// Makes the failure of a command on the journal's entries.
  init(journal error: any Error) {
    switch error {
    case let error as CommandFailure: self = error
    case let error as JournalError: self.init(error.message, error.exitCode)
    default: self.init("\(error). This is a fault of the program", .software)
    }
  }
}

extension Arguments {
  func journalStore() throws(CommandFailure) -> String {
    guard let store = string("store"), !store.isEmpty else {
      throw mistake("no store is given; name one with --store PATH")
    }
    return store
  }

  /// Whether objects of an entity are meant instead of the journal's entries.
  var isOfEntity: Bool { isGiven("entity") }

  /// The objects that the command works with. It reads the model of the store if it is to be found there.
  func objectKind() throws(CommandFailure) -> ObjectKind {
    guard let entity = string("entity") else {
      if isGiven("model") { throw mistake("--model needs the entity of the objects; name it with --entity ENTITY") }
      return .entry
    }
    do {
      let timeout = try seconds("lock-timeout") ?? RunOptions().lockTimeoutSeconds
      return try ObjectKind(
        entity: entity, model: string("model"), store: try journalStore(), timeoutSeconds: timeout)
    } catch let error as CommandFailure {
      throw error
    } catch {
      throw CommandFailure(journal: error)
    }
  }

  /// Whether an option gives the attribute or relationship a value.
  func isSet(_ name: String) -> Bool { isGiven(name) || strings("set").contains { $0.hasPrefix(name + "=") } }

  /// The values given by `--set`, and by the options with the names of an entry's attributes.
  func journalChanges(_ kind: ObjectKind) throws(CommandFailure) -> JournalChanges {
    var changes = JournalChanges(kind)
    var given: [(name: String, text: String)] = []
    for attribute in JournalRecord.attributes {
      guard let text = string(attribute) else { continue }
      if isOfEntity { throw mistake("--\(attribute) is for the journal's entries; write --set \(attribute)=VALUE") }
      given.append((attribute, text))
    }
    for text in strings("set") {
      guard let sign = text.firstIndex(of: "="), sign != text.startIndex else {
        throw mistake("--set is '\(text)'; write NAME=VALUE")
      }
      let name = String(text[..<sign])
      if given.contains(where: { $0.name == name }) { throw mistake("\(name) is given twice; leave one out") }
      given.append((name, String(text[text.index(after: sign)...])))
    }
    for (name, text) in given {
      do {
        try changes.set(name, to: text)
      } catch {
        throw CommandFailure(error.message, error.exitCode)
      }
    }
    return changes
  }
}
