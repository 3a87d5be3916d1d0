import Foundation
import PipelineEngine
import SurfJournal

/// What can stand at a position of a command line.
enum CompletedValue {
  case nothing
  case files
  case words([String])
  case commands
  /// Names of pipelines, or definition files.
  case pipelines
  case entities
  /// `ENTITY=FILE`, or a file.
  case entityFiles
  /// An attribute, with what is written after it.
  case attributes(ending: String)
  /// Attributes separated by commas.
  case attributeList

  /// The value of an option.
  init(of option: String, in command: String) {
    switch option {
    case "store", "output", "input", "rejects", "report", "log", "model": self = .files
    case "from": self = .entityFiles
    case "pipeline": self = .pipelines
    case "entity": self = .entities
    case "sort", "clear", "split-month": self = .attributes(ending: "")
    case "set": self = .attributes(ending: "=")
    case "key": self = .attributeList
    case "columns": self = ["export", "list"].contains(command) ? .attributeList : .nothing
    default: self = Self.choices(of: option, in: command).map(Self.words) ?? .nothing
    }
  }

  /// The values of an option that has few.
  private static func choices(of option: String, in command: String) -> [String]? {
    switch option {
    case "format": formats(of: command)
    case "color": names(TerminalSettings.ColorChoice.self)
    case "dialect": ["rfc4180", "journal-app"]
    case "extra-columns", "missing-columns": names(PipelineDefinition.ColumnPolicy.self)
    case "fields-match": names(DialectDefinition.FieldsMatch.self)
    case "ragged-rows": names(DialectDefinition.RaggedRows.self)
    case "log-level": names(LogDefinition.Level.self)
    case "log-format": names(LogDefinition.Format.self)
    case "damaged-log": ["refuse", "ignore"]
    case "event": ["failure", "recovery", "drift", "success"]
    case "missing-external": ["refuse", "warn"]
    case "as": ["tableschema"]
    case "date-format":
      ["iso8601", "seconds", "unix", "journal-app", "yyyy-MM-dd", "d/M/yyyy", "M/d/yyyy", "d.M.yyyy"]
    case "encoding":
      ["utf-8", "utf-16", "utf-16le", "utf-16be", "windows-1252", "iso-8859-1", "iso-8859-15", "macintosh"]
    case "time-zone": ["UTC"] + TimeZone.knownTimeZoneIdentifiers
    default: nil
    }
  }

  private static func formats(of command: String) -> [String] {
    switch command {
    case "export": names(ExportDefinition.Format.self)
    case "list": names(JournalListing.Format.self)
    case "show": names(ShowCommand.Format.self)
    case "history": names(HistoryCommand.Format.self)
    default: names(DialectDefinition.Format.self)
    }
  }

  private static func names<Choice: RawRepresentable & CaseIterable>(
    _ type: Choice.Type
  ) -> [String] where Choice.RawValue == String {
    Choice.allCases.map(\.rawValue)
  }

  /// The operand after those that are given.
  init(operandOf command: String, after operands: [String]) {
    let isFirst = operands.isEmpty
    switch command {
    case "import", "validate", "preview", "diff", "guess", "replay", "seed": self = .files
    case "init": self = isFirst ? .files : .nothing
    case "history", "inspect", "verify", "undo", "list", "show", "add", "edit", "delete", "export":
      self = isFirst ? .files : .nothing
    case "run", "notify": self = isFirst ? .pipelines : .nothing
    case "check": self = .pipelines
    case "pipelines": self = isFirst ? .words(["export"]) : operands.count == 1 ? .pipelines : .nothing
    case "ledger": self = isFirst ? .words(["compact", "drop"]) : operands.count == 1 ? .files : .nothing
    case "help": self = isFirst ? .commands : .nothing
    default: self = .nothing
    }
  }
}
