import Foundation

/// What people type who know other programs, and what it is called here.
enum UsualGuess {
  private static let commands = [
    "load": "import", "ingest": "import", "insert": "import", "stats": "preview", "head": "preview", "sniff": "guess",
    "detect": "guess", "describe": "inspect", "info": "inspect", "remove": "delete", "rm": "delete", "ls": "list",
    "rollback": "undo", "revert": "undo", "dump": "export", "log": "history", "runs": "history", "lint": "check",
    "new": "init", "retry": "replay", "update": "edit",
  ]

  /// What the message about an unknown command adds: the command that is probably meant, or what is done with the file
  /// of this name.
  static func hint(forCommand name: String) -> String? {
    if let meant = commands[name] { return "; did you mean '\(meant)'?" }
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: name, isDirectory: &isFolder), !isFolder.boolValue else { return nil }
    return "; to import this file, use 'surfjournal import FILE --store STORE', and to see what it contains, "
      + "'surfjournal preview FILE' or 'surfjournal list STORE'"
  }

  private static let options = [
    "-v": "--log - --log-level debug", "--verbose": "--log - --log-level debug", "-s": "--store", "-d": "--delimiter",
    "--db": "--store", "--database": "--store", "--separator": "--delimiter", "--sep": "--delimiter",
    "--filter": "--where", "--order": "--sort", "--order-by": "--sort", "--skip": "--skip-rows",
    "--skip-lines": "--skip-rows", "--no-header": "--header-rows 0", "--ndjson": "--format jsonl",
    "--jsonl": "--format jsonl", "--tsv": "--format tsv", "--fields": "--columns",
    "--null-value": "--null", "--tz": "--time-zone", "--timezone": "--time-zone", "--head": "--limit",
    "--count": "--limit",
    "--fail-fast": "--stop-on-error",
    "--schema": "--model", "--table": "--entity", "--out": "--output", "--silent": "--quiet",
  ]

  /// What the message about an unknown option adds: the option that is probably meant. Empty if none is.
  static func hint(for word: String, in options: [CommandOption]) -> String {
    let declared = Set(options.map { "--\($0.name)" })
    if word == "--dry-run" || word == "-n", declared.contains("--from") || declared.contains("--rejects") {
      return "; to check files and store nothing, use 'surfjournal validate FILE...'"
    }
    guard let meant = Self.options[word], let name = meant.split(separator: " ").first, declared.contains(String(name))
    else { return "" }
    return "; did you mean '\(meant)'?"
  }
}
