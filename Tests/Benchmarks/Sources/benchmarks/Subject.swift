/// Something that is timed, by the name it has in the table. Stable: floors refer to it.
enum Subject: String, CaseIterable {
  case limitImport = "C limit"
  case importPlain = "surfjournal import"
  case importGzip = "surfjournal import, gzip"
  case importOneContext = "one context instead of three"
  case yardstickImport = "yardstick imp vtab=1 pipe=1 ckthread=1"
  case shellImport = "sqlite3 .import, unchecked texts"
  case pythonImport = "Python csv + sqlite3, checked"
  case duckDBImport = "DuckDB read_csv, typed, into its own table"
  case sqliteUtilsImport = "sqlite-utils insert, unchecked texts"

  case limitCheck = "C parser, one thread"
  case validate = "surfjournal validate"

  case limitExport = "C cursor"
  case export = "surfjournal export"
  case exportGzip = "surfjournal export, gzip"
  case gzipAlone = "gzip -6 of the finished file alone"
  case yardstickExport = "yardstick exp order=pk page=cursor"
  case shellExport = "sqlite3 -csv, ISO dates"

  case limitExportByDate = "C cursor, sorting"
  case exportByDate = "surfjournal export --sort date"

  case limitVersion = "C program --version"
  case version = "surfjournal --version"
  case importSmall = "surfjournal import of 100 records"
}

/// Subjects that are compared with each other.
enum Group: String, CaseIterable {
  case `import`, validate, export, sorted, start

  var title: String {
    switch self {
    case .import: "Import"
    case .validate: "Dry run"
    case .export: "Export by key"
    case .sorted: "Export by date, without an index"
    case .start: "Small runs"
    }
  }

  /// The one whose speed is the most that can be had; nil: the group has no such thing.
  var limit: Subject? {
    switch self {
    case .import: .limitImport
    case .validate: .limitCheck
    case .export: .limitExport
    case .sorted: .limitExportByDate
    case .start: nil
    }
  }

  /// The one of ours that the others are compared with.
  var ours: Subject {
    switch self {
    case .import: .importPlain
    case .validate: .validate
    case .export: .export
    case .sorted: .exportByDate
    case .start: .version
    }
  }
}
