/// What people type who know other programs, and what it is called here.
enum UsualGuess {
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
