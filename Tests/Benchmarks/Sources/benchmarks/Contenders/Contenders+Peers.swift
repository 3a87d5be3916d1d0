import Foundation

extension Contenders {
  /// Other people's programs: SQLite's shell always, the others where they are installed (`make bench-peers`).
  func peers() throws -> [Contender] {
    let python = pythonProgram
    return [shellImport, shellExport, gzipAlone]
      + (python.map { [pythonImport($0)] } ?? [])
      + (python.flatMap(duckDBImport).map { [$0] } ?? [])
      + (python.flatMap(sqliteUtilsImport).map { [$0] } ?? [])
  }

  /// With the settings that stores of ours have.
  private var shellImport: Contender {
    let path = folder.output("shell.sqlite")
    return Contender(
      subject: .shellImport, groups: [.import],
      command: [
        "sqlite3", path, "PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL",
        "CREATE TABLE log (date, height, period, wind, location, rating)",
        ".import --csv --skip 1 '\(inputs.plain)' log",
      ],
      outputs: [path], rows: inputs.rows, check: { _ in try Checks.table("log", of: path, has: inputs.rows) })
  }

  private var shellExport: Contender {
    Contender(
      subject: .shellExport, groups: [.export],
      command: [
        "sqlite3", "-readonly", "-csv", "-header", limitStore,
        """
        SELECT strftime('%Y-%m-%dT%H:%M:%SZ', ZDATE + 978307200, 'unixepoch') AS date, ZHEIGHT AS height, \
        ZPERIOD AS period, ZWIND AS wind, ZLOCATION AS location, ZRATING AS rating FROM ZJOURNALENTRY ORDER BY Z_PK
        """,
      ],
      rows: inputs.rows, check: { try Checks.lines(of: $0, are: inputs.rows + 1) })
  }

  private var gzipAlone: Contender {
    Contender(
      subject: .gzipAlone, groups: [.export], command: ["gzip", "-6", "-n", "-c", inputs.plain], rows: inputs.rows,
      check: { try Checks.gzip($0, holds: inputs.plain) })
  }

  private var pythonProgram: String? {
    let own = folder.input("peers/bin/python3")
    if FileManager.default.isExecutableFile(atPath: own) { return own }
    return Tool.succeeds(["python3", "--version"]) ? "python3" : nil
  }

  private func pythonImport(_ python: String) -> Contender {
    let path = folder.output("python.sqlite")
    return Contender(
      subject: .pythonImport, groups: [.import],
      command: [python, folder.peerScript("csv_sqlite3.py"), inputs.plain, path],
      outputs: [path], rows: inputs.rows, check: { _ in try checks.store(path) })
  }

  private func duckDBImport(_ python: String) -> Contender? {
    guard Tool.succeeds([python, "-c", "import duckdb"]) else { return nil }
    let path = folder.output("log.duckdb")
    let script = folder.peerScript("duckdb_read_csv.py")
    return Contender(
      subject: .duckDBImport, groups: [.import], command: [python, script, inputs.plain, path], outputs: [path],
      rows: inputs.rows, check: { try Checks.text(of: $0, is: "\(inputs.rows)\n") })
  }

  /// It takes most of a minute for a million rows, so it is run once.
  private func sqliteUtilsImport(_ python: String) -> Contender? {
    guard Tool.succeeds([python, "-c", "import sqlite_utils"]) else { return nil }
    let path = folder.output("sqlite-utils.sqlite")
    return Contender(
      subject: .sqliteUtilsImport, groups: [.import],
      command: [python, "-m", "sqlite_utils", "insert", path, "log", inputs.plain, "--csv", "--silent"],
      outputs: [path], rows: inputs.rows, roundsMax: 1,
      check: { _ in try Checks.table("log", of: path, has: inputs.rows) })
  }
}
