import Foundation

/// A PostgreSQL server of the benchmark's own, which writes to the disk as servers do, and what is timed on it.
final class ServerRuns {
  private let source: Contenders
  private let folder: String
  private let process: Process
  /// The server ends when its other end is closed: also when the benchmark is ended.
  private let life = Pipe()

  /// - Throws: `BenchmarkFailure` where no server can be started.
  init(_ source: Contenders) throws {
    self.source = source
    let base = "/usr/lib/postgresql"
    let versions = ((try? FileManager.default.contentsOfDirectory(atPath: base)) ?? []).compactMap { Int($0) }.sorted()
    guard let version = versions.last else {
      throw BenchmarkFailure("the group server needs PostgreSQL: install the package postgresql")
    }
    let programs = "\(base)/\(version)/bin"
    folder = try Tool.run(["mktemp", "-d"])
    // It refuses to run as the superuser.
    let asUser = geteuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] : []
    if geteuid() == 0 { try Tool.run(["chown", "postgres", folder]) }
    try Tool.run(
      asUser + ["\(programs)/initdb", "-D", "\(folder)/data", "-U", "bench", "-A", "trust", "-E", "UTF8", "--locale=C"])
    let settings = [
      "listen_addresses=", "unix_socket_directories=\(folder)", "shared_buffers=256MB", "max_wal_size=4GB", "jit=off",
    ]
    process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments =
      ["-c", "\"$@\" </dev/null & server=$!; cat >/dev/null; kill -INT $server; wait $server", "sh"] + asUser
      + ["\(programs)/postgres", "-D", "\(folder)/data"] + settings.flatMap { ["-c", $0] }
    process.standardInput = life
    process.standardError = FileHandle.nullDevice
    try process.run()
    for _ in 0..<200 where !Tool.succeeds(["\(programs)/pg_isready", "-q", "-h", folder]) { usleep(50_000) }
    try fillStore()
  }

  deinit {
    try? life.fileHandleForWriting.close()
    process.waitUntilExit()
    try? FileManager.default.removeItem(atPath: folder)
  }

  private func address(_ database: String) -> String { "postgresql:///\(database)?host=\(folder)&user=bench" }

  @discardableResult
  private func psql(_ database: String, _ statements: String...) throws -> String {
    try Tool.run(
      ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", folder, "-U", "bench", "-d", database]
        + statements.flatMap { ["-c", $0] })
  }

  private static let quietly = "SET client_min_messages = warning"

  /// A database with an empty journal.
  private func makeStore(_ database: String) throws {
    try psql(
      "postgres", Self.quietly, "DROP DATABASE IF EXISTS \(database)",
      "CREATE DATABASE \(database) ENCODING 'UTF8' TEMPLATE template0")
    try Tool.run([source.folder.program("benchmarks"), StreamingFetch.makeServer.rawValue, address(database)])
    // What others have left for the disk is not this one's affair.
    try psql(database, "CHECKPOINT")
  }

  /// The store that is read.
  private func fillStore() throws {
    try makeStore("source")
    try Tool.run([source.folder.program("limit"), "server-import", source.inputs.plain, address("source"), "50000"])
    try psql("source", "VACUUM ANALYZE", "CHECKPOINT")
    try check("source")
  }

  /// That a store has the rows of the input.
  private func check(_ database: String) throws {
    let found = try Tool.run([source.folder.program("limit"), "server-step", address(database)])
    guard found == source.steppedText else {
      throw BenchmarkFailure("the database \(database) holds \(found); expected was \(source.steppedText)")
    }
  }

  func contenders() throws -> [Contender] {
    let (rows, own) = (source.rows, try source.folder.program("benchmarks"))
    let (ours, limit) = (try source.folder.program("surfjournal"), try source.folder.program("limit"))
    let stepped = source.steppedText + "\n"
    return [
      loading(.limitServerImport) { [limit, "server-import", source.inputs.plain, $0, "8000"] },
      loading(.importServer) { [ours, "import", source.inputs.plain, "--store", $0, "-q"] },
      loading(.limitServerImportLarge) { [limit, "server-import", source.inputs.plain, $0, "50000"] },
      loading(.importServerLarge) {
        [ours, "import", source.inputs.plain, "--store", $0, "--chunk-rows", "50000", "-q"]
      },
      shellImport(.shellServerImport, table: "texts", columns: Self.texts),
      shellImport(
        .shellServerImportWithKey, table: "keyed_texts",
        columns: "id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, " + Self.texts),
      reading(.limitServerStep, [limit, "server-step", address("source")]) { try Checks.text(of: $0, is: stepped) },
      reading(.walkServerObjects, [own, StreamingFetch.objects.rawValue, address("source")]) {
        try Checks.text(of: $0, is: stepped)
      },
      reading(.walkServerBatches, [own, StreamingFetch.batches.rawValue, address("source")]) {
        try Checks.text(of: $0, is: "rows \(rows)\n")
      },
      reading(
        .exportServer, [ours, "export", "--store", address("source"), "--output", "-", "-q"] + Contenders.columns
      ) { [plain = source.inputs.plain] in try Checks.same($0, as: plain) },
      reading(.shellServerExport, ["psql", "-X", "-d", address("source"), "-c", Self.copyOut]) {
        try Checks.lines(of: $0, are: rows + 1)
      },
    ]
  }

  private static let copyOut = """
    COPY (SELECT to_char(to_timestamp("ZDATE" + 978307200) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS date, \
    "ZHEIGHT" AS height, "ZPERIOD" AS period, "ZWIND" AS wind, "ZLOCATION" AS location, "ZRATING" AS rating \
    FROM "ZJOURNALENTRY" ORDER BY "Z_PK") TO STDOUT CSV HEADER
    """

  private func loading(_ subject: Subject, command: (_ address: String) -> [String]) -> Contender {
    let database = "\(subject)".lowercased()
    return Contender(
      subject: subject, groups: [.server], command: command(address(database)), rows: source.rows,
      prepare: { [self] in try makeStore(database) }, check: { [self] _ in try check(database) })
  }

  private static let texts = "date text, height text, period text, wind text, location text, rating text"

  private func shellImport(_ subject: Subject, table: String, columns: String) -> Contender {
    // Each has a database of its own, so that nothing of the one before is left.
    let names = "(date, height, period, wind, location, rating)"
    return Contender(
      subject: subject, groups: [.server],
      command: [
        "psql", "-X", "-q", "-d", address(table), "-c",
        "\\copy \(table) \(names) from '\(source.inputs.plain)' csv header",
      ],
      rows: source.rows,
      prepare: { [self] in
        try psql("postgres", Self.quietly, "DROP DATABASE IF EXISTS \(table)", "CREATE DATABASE \(table)")
        try psql(table, "CREATE TABLE \(table) (\(columns))", "CHECKPOINT")
      },
      check: { [self] _ in
        let count = try psql(table, "SELECT count(*) FROM \(table)")
        guard count == String(source.rows) else { throw BenchmarkFailure("the table has \(count) rows") }
      })
  }

  private func reading(
    _ subject: Subject, _ command: [String], check: @escaping (_ printed: String) throws -> Void
  ) -> Contender {
    // The server lives as long as what is timed on it.
    Contender(
      subject: subject, groups: [.server], command: command, rows: source.rows,
      check: { [self] printed in try withExtendedLifetime(self) { try check(printed) } })
  }
}
