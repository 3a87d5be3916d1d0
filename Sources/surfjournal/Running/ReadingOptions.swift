import Foundation
import PipelineEngine
import SurfJournal

/// The options that say how files are read: the keys of a dialect, and what else depends on the file instead of the
/// pipeline.
enum ReadingOptions {
  /// Their lines of a command's usage text, without an indentation at the start of the first.
  static let usage = """
    --format FORMAT        csv or jsonl (JSON Lines); by default what the name
                                 ends in or the first line shows
          --encoding NAME        encoding of the files, such as windows-1252; by
                                 default UTF-8, or what a byte order mark says
          --delimiter TEXT       what separates fields, one or several characters;
                                 \\t is a tab
          --quote CHAR           what encloses fields; '' if nothing does
          --no-double-quote      a quote within quotes is not written twice
          --escape CHAR          makes the next character ordinary text
          --line-terminator TEXT
                                 what ends a record, if not a line end
          --comment TEXT         lines that begin with TEXT are skipped
          --skip-initial-space   spaces after a delimiter are skipped
          --skip-rows N          lines before the header, such as a title
          --header-rows N        records that name the columns; 0 for none
          --columns NAMES        columns of files without a header, in order and
                                 separated by commas; '' ignores a field
          --skip-blank-rows      empty lines and records of empty fields are skipped
          --stop-at PATTERN      the file ends before a record that begins with
                                 this, such as Total
          --skip-last-rows N     records to skip at the end
          --ragged-rows POLICY   records of too few or too many fields: error, pad,
                                 truncate or joinLast; may be repeated
          --lenient              repair what has one sensible reading, and list it
                                 as a warning
          --null TEXT            unquoted text that means no value, such as '\\N';
                                 an empty field is then an empty text, unless an
                                 empty TEXT is given too; may be repeated
          --decimal CHAR         character before the fraction of numbers
          --group CHAR           character between groups of three digits
          --true TEXT            text that means true; may be repeated
          --false TEXT           text that means false; may be repeated
          --date-format FORMAT   format of dates, such as d.M.yyyy; may be repeated
          --time-zone ZONE       zone of times that name none, such as
                                 Europe/Berlin; by default UTC
          --extra-columns POLICY
                                 labels that no column has: error, warn or ignore
          --missing-columns POLICY
                                 columns that the header lacks: error, warn or
                                 ignore
          --fields-match MATCH   labels that the header must have: exact, equal,
                                 subset or superset
          --key ATTRIBUTES       attributes that identify an entry, separated by
                                 commas
    """

  /// The options that also apply to a file of rejects, which has neither title nor footer and is in UTF-8.
  private static let rejectsOptions = [
    "format", "delimiter", "quote", "no-double-quote", "escape", "line-terminator", "comment", "skip-initial-space",
    "header-rows", "columns", "skip-blank-rows", "ragged-rows", "lenient", "null", "decimal", "group", "true", "false",
    "date-format", "time-zone", "extra-columns", "missing-columns", "fields-match", "key",
  ]

  /// The options that say how CSV is written, and have no meaning for JSON Lines.
  private static let csvOptions = [
    "delimiter", "quote", "no-double-quote", "escape", "line-terminator", "comment", "skip-initial-space", "skip-rows",
    "header-rows", "columns", "stop-at", "skip-last-rows", "ragged-rows", "lenient", "null",
  ]

  /// Those of them that were given.
  static func forCSV(in arguments: Arguments) -> [String] { csvOptions.filter(arguments.isGiven) }

  /// What was given of the options that a replay of rejects needs.
  static func given(in arguments: Arguments) -> [String: [String]] {
    var given: [String: [String]] = [:]
    for name in rejectsOptions where arguments.isGiven(name) { given[name] = arguments.strings(name) }
    return given
  }
}

extension PipelineDefinition {
  /// Changes what the options of a command say about its files.
  mutating func setReading(from arguments: Arguments) throws(CommandFailure) {
    guard arguments.isDeclared("delimiter") else { return }
    if let format = try arguments.choice("format", DialectDefinition.Format.self) {
      if format == .jsonl { dialect = dialect.forJSONLines }
      dialect.format = format
    }
    try dialect.setSigns(from: arguments)
    try dialect.setRows(from: arguments)
    try dialect.setValues(from: arguments)
    if let policy = try arguments.choice("extra-columns", ColumnPolicy.self) { extraColumns = policy }
    if let policy = try arguments.choice("missing-columns", ColumnPolicy.self) { missingColumns = policy }
    if let match = try arguments.choice("fields-match", DialectDefinition.FieldsMatch.self) {
      if arguments.isGiven("extra-columns") || arguments.isGiven("missing-columns") {
        throw arguments.mistake(
          "--fields-match excludes --extra-columns and --missing-columns; leave it or them out")
      }
      dialect.fieldsMatch = match
      (extraColumns, missingColumns) = (.warn, .warn)
    }
    if let zone = arguments.string("time-zone") {
      timeZone = zone
      guard ZoneRules(zone) != nil else {
        throw arguments.mistake("--time-zone is '\(zone)'; expected an IANA name such as Europe/Berlin, or UTC")
      }
    }
    if let key = arguments.list("key") { self.key = key }
    for format in arguments.strings("date-format") {
      do throws(PipelineError) {
        _ = try DateFormat(format, named: vocabulary.dateFormats)
      } catch {
        throw arguments.mistake("--date-format is '\(format)': \(error.message)\(StrftimePattern.hint(for: format))")
      }
    }
    if let fault = dialect.contradictions.first {
      let option = DialectDefinition.options[fault.key].map { "--\($0): " } ?? ""
      throw arguments.mistake(option + fault.message)
    }
  }

  /// The definition for a file of rejects: of its input the title and the footer are not in it, and it is in UTF-8.
  var forRejects: PipelineDefinition {
    var definition = self
    definition.dialect.encoding = nil
    definition.dialect.skipRows = 0
    definition.dialect.stopAt = nil
    definition.dialect.skipLastRows = 0
    return definition
  }
}

extension DialectDefinition {
  /// The option for each key.
  fileprivate static let options = [
    "encoding": "encoding", "delimiter": "delimiter", "quote": "quote", "escapeChar": "escape",
    "commentChar": "comment", "lineTerminator": "line-terminator", "header": "header-rows", "columns": "columns",
    "raggedRows": "ragged-rows", "null": "null", "nullSequences": "null", "decimalChar": "decimal",
    "groupChar": "group", "falseValues": "false", "stopAt": "stop-at", "doubleQuote": "no-double-quote",
    "skipInitialSpace": "skip-initial-space", "headerRows": "header-rows", "skipRows": "skip-rows",
    "skipLastRows": "skip-last-rows", "mode": "lenient",
  ]

  fileprivate mutating func setSigns(from arguments: Arguments) throws(CommandFailure) {
    if let name = arguments.string("encoding") { encoding = name }
    if let text = arguments.string("delimiter") { delimiter = Self.unescaped(text) }
    if let text = arguments.string("quote") { quote = text.isEmpty ? nil : try arguments.character("quote") }
    if arguments.has("no-double-quote") { doubleQuote = false }
    if arguments.has("escape") { escapeChar = try arguments.character("escape") }
    if let text = arguments.string("line-terminator") {
      lineTerminator = Self.unescaped(text).replacingOccurrences(of: "\\r", with: "\r")
        .replacingOccurrences(of: "\\n", with: "\n")
    }
    if let text = arguments.string("comment") { commentChar = text.isEmpty ? nil : text }
    if arguments.has("skip-initial-space") { skipInitialSpace = true }
    if arguments.has("lenient") { mode = .lenient }
  }

  fileprivate mutating func setRows(from arguments: Arguments) throws(CommandFailure) {
    if let count = try arguments.integer("skip-rows", in: 0...1_000_000) { skipRows = count }
    if let count = try arguments.integer("header-rows", in: 0...10) {
      (header, headerRows) = (count > 0, max(1, count))
      if header { columns = [] }
    }
    if let names = arguments.list("columns") {
      if arguments.isGiven("header-rows"), header {
        throw arguments.mistake("--columns is for files without a header; leave --header-rows out")
      }
      (header, columns) = (false, names)
    }
    if arguments.has("skip-blank-rows") { skipBlankRows = true }
    if let pattern = arguments.string("stop-at") { stopAt = pattern }
    if let count = try arguments.integer("skip-last-rows", in: 0...10_000) { skipLastRows = count }
    let policies = arguments.strings("ragged-rows")
    if policies.isEmpty { return }
    raggedRows = try policies.map { text throws(CommandFailure) in
      if let policy = RaggedRows(rawValue: text) { return policy }
      let names = RaggedRows.allCases.map(\.rawValue)
      let hint = NearestName.hint(for: text, in: names)
      throw arguments.mistake("--ragged-rows is '\(text)'; known are \(names.joined(separator: ", "))\(hint)")
    }
  }

  fileprivate mutating func setValues(from arguments: Arguments) throws(CommandFailure) {
    let tokens = arguments.strings("null")
    if !tokens.isEmpty { nullSequences = tokens }
    if let text = arguments.string("decimal") { decimalChar = text }
    if let text = arguments.string("group") { groupChar = text.isEmpty ? nil : text }
    if arguments.has("true") { trueValues = arguments.strings("true") }
    if arguments.has("false") { falseValues = arguments.strings("false") }
  }
}

extension Arguments {
  /// The values of an option that are separated by commas; nil if it is not given.
  fileprivate func list(_ name: String) -> [String]? {
    string(name)?.split(separator: ",", omittingEmptySubsequences: false).map {
      $0.trimmingCharacters(in: .whitespaces)
    }
  }

  fileprivate func character(_ name: String) throws(CommandFailure) -> String {
    let text = string(name) ?? ""
    if text.utf8.count == 1, text != "\n", text != "\r" { return text }
    throw mistake("--\(name) is '\(text)'; expected one ASCII character")
  }
}
