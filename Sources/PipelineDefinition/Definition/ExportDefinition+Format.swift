extension ExportDefinition {
  /// The format for an actual output, which `contradictions(output:)` does not object to.
  package func format(of output: String) -> Format { format ?? Self.format(FileEnding(path: output)) ?? .csv }

  /// The definition with the format for an actual output.
  package func resolved(output: String) -> ExportDefinition {
    var export = self
    export.format = format(of: output)
    if export.format == .tsv { export.dialect.delimiter = "\t" }
    return export
  }

  /// Why an output can't have its name; nil if it can.
  func formatFault(_ output: String) -> (key: String, message: String)? {
    let ending = FileEnding(path: output)
    if let other = Self.otherFormats.first(where: { $0.endings.contains(ending.text) }) {
      return ("output", "the ending .\(ending.text) is that of \(other.name); \(other.advice)")
    }
    let named = Self.format(ending)
    if let format, let named, format != named {
      return (
        "format",
        "is \(format.rawValue), and the output's name ends in .\(ending.text); change one of them"
      )
    }
    if format == nil, named == nil, !Self.neutralEndings.contains(ending.text) {
      return (
        "output",
        "the ending .\(ending.text) names no format that is written; end the name in .csv, .tsv or .jsonl, or say the "
          + "format too"
      )
    }
    if format(of: output) == .tsv, ![",", "\t"].contains(dialect.delimiter) {
      return ("format", "is tsv, and the dialect separates values by '\(dialect.delimiter)'; change one of them")
    }
    return nil
  }

  private static func format(_ ending: FileEnding) -> Format? {
    if ending.isTabs { return .tsv }
    if ending.isJSONLines { return .jsonl }
    return ending.text == "csv" ? .csv : nil
  }

  /// Endings that say nothing of the format.
  private static let neutralEndings: Set<String> = ["", "txt", "text", "dat", "data", "out", "tmp"]

  private static let otherFormats: [(endings: Set<String>, name: String, advice: String)] = [
    (
      ["xlsx", "xls", "xlsm", "ods", "numbers"], "a workbook",
      "workbooks are not written; end the name in .csv, which spreadsheets open"
    ),
    (
      ["json", "json5", "geojson"], "one JSON document",
      "end the name in .jsonl for JSON Lines, one object for each entry"
    ),
    (
      ["parquet", "avro", "arrow", "feather", "orc"], "a column store",
      "such files are not written; end the name in .csv or .jsonl, and convert that, for example with DuckDB"
    ),
    (
      ["sqlite", "sqlite3", "db", "mdb", "accdb"], "a database",
      "an export is text; end the name in .csv, .tsv or .jsonl, or copy the store with sqlite3 STORE \".backup FILE\""
    ),
    (["sql"], "SQL", "statements are not written; end the name in .csv, .tsv or .jsonl"),
    (["xml", "html", "htm", "xhtml", "yaml", "yml", "plist", "toml", "md"], "another kind of text", notWritten),
    (["pdf", "doc", "docx", "rtf", "odt"], "a document", notWritten),
    (["gpx", "kml", "kmz", "fit", "tcx"], "a track", notWritten),
    (
      ["zip", "bz2", "xz", "zst", "7z", "tar", "tgz", "rar", "lz4", "br"], "an archive or another compression",
      "only gzip is written; end the name in .gz, or write to - and compress that"
    ),
  ]

  private static let notWritten = "such files are not written; end the name in .csv, .tsv or .jsonl"
}
