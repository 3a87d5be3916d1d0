import Foundation

/// A PostgreSQL server of the tests' own, in a folder of its own: started once for a test process, ended with it. It does
/// not wait for the disk, because no test cuts its power.
package final class PostgreSQLServer: Sendable {
  /// Started at the first use; nil where that fails.
  package static let shared: PostgreSQLServer? = {
    do {
      let server = try PostgreSQLServer()
      atexit { PostgreSQLServer.shared?.stop() }
      return server
    } catch {
      FileHandle.standardError.write(Data("The server for the tests can't be started: \(error)\n".utf8))
      return nil
    }
  }()

  /// Whether a server is installed. Asking starts none: processes that run one test without a server ask, too.
  package static let isThere = missing == nil
  /// For the comment of a test that is left out.
  package static let problem = missing.map { "there is no PostgreSQL server for the tests: \($0)" } ?? ""

  private static let missing: String? = {
    do {
      _ = try programs()
      return geteuid() == 0 && getpwnam("postgres") == nil ? "\(noUser)" : nil
    } catch {
      return "\(error)"
    }
  }()
  private static let noUser = ProgramFailure(
    description: "PostgreSQL refuses to run as root, and there is no user postgres")

  /// The folder of its socket, which has a short path.
  package let socketFolder: String
  private let folder: String
  private let options: [String]
  private let running: Running

  /// The process of the server.
  // Unchecked: `lock` guards the mutable state.
  private final class Running: @unchecked Sendable {
    private let lock = NSLock()
    private var process: ChildProcess
    /// The server ends when its other end is closed: also when the tests are killed.
    private var life: Pipe

    init(_ started: (process: ChildProcess, life: Pipe)) { (process, life) = started }

    var isRunning: Bool { lock.withLock { process.isRunning } }

    func end() {
      lock.withLock {
        try? life.fileHandleForWriting.close()
        process.waitUntilExit()
      }
    }

    func replace(by started: (process: ChildProcess, life: Pipe)) { lock.withLock { (process, life) = started } }
  }

  /// - Parameter settings: Of the server, in addition to those that make it quick.
  package init(settings: [String] = []) throws {
    let programs = try Self.programs()
    folder = try Self.makeFolder()
    socketFolder = folder
    let asUser = Self.asUser
    let made = try Programs.run(
      "/usr/bin/env",
      asUser + [
        "\(programs)/initdb", "-D", "\(folder)/data", "-U", "tests", "-A", "trust", "-E", "UTF8", "--locale=C",
        "--no-sync",
      ])
    guard made.status == 0 else { throw ProgramFailure(description: "initdb: \(made.messages)") }
    options =
      [
        "listen_addresses=", "unix_socket_directories=\(folder)", "fsync=off", "full_page_writes=off",
        "synchronous_commit=off", "autovacuum=off", "max_connections=400", "shared_buffers=64MB", "wal_level=minimal",
        "max_wal_senders=0", "jit=off", "log_min_messages=fatal", "log_min_error_statement=fatal",
      ] + settings
    running = Running(try Self.start(programs, folder, options: options))
    try waitUntilReady(programs)
  }

  private static var asUser: [String] {
    geteuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] : []
  }

  private static func start(
    _ programs: String, _ folder: String, options: [String]
  ) throws -> (process: ChildProcess, life: Pipe) {
    // The shell ends the server when its own standard input ends.
    let command = "\"$@\" </dev/null & server=$!; cat >/dev/null; kill -QUIT $server; wait $server"
    let process = Programs.process(
      "/bin/sh",
      ["-c", command, "sh"] + asUser + ["\(programs)/postgres", "-D", "\(folder)/data"]
        + options.flatMap { ["-c", $0] })
    let life = Pipe()
    process.standardInput = life
    try Data().write(to: URL(fileURLWithPath: "\(folder)/log"))
    let log = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(folder)/log"))
    (process.standardOutput, process.standardError) = (log, log)
    try process.start()
    return (process, life)
  }

  /// Ends the server at once, as a crash would, and starts it again. Only for a server that no other test uses.
  package func restartAfterCrash() throws {
    try crash()
    try startAgain()
  }

  /// Ends the server at once, as a crash would. Only for a server that no other test uses.
  package func crash() throws {
    let programs = try Self.programs()
    let stopped = try Programs.run(
      "/usr/bin/env", Self.asUser + ["\(programs)/pg_ctl", "-D", "\(folder)/data", "-m", "immediate", "-w", "stop"])
    guard stopped.status == 0 else { throw ProgramFailure(description: "pg_ctl: \(stopped.messages)") }
    running.end()
  }

  /// Starts a server that has crashed.
  package func startAgain() throws {
    let programs = try Self.programs()
    running.replace(by: try Self.start(programs, folder, options: options))
    try waitUntilReady(programs)
  }

  /// An address of a database, with parameters.
  package func address(_ parameters: [String: String] = [:], database: String = "postgres") -> URL? {
    var parts = URLComponents()
    parts.scheme = "postgresql"
    parts.host = ""
    parts.path = "/\(database)"
    parts.queryItems =
      [URLQueryItem(name: "host", value: socketFolder), URLQueryItem(name: "user", value: "tests")]
      + parameters.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) }
    return parts.url
  }

  /// What `psql` prints for statements: without a heading, columns separated by `|`.
  package func psql(
    _ statements: String, schema: String = "public", database: String = "postgres"
  ) throws -> String {
    let output = try Programs.run(
      "/usr/bin/env", ["psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c", statements],
      environment: environment.merging(["PGOPTIONS": "-csearch_path=\(schema)", "PGDATABASE": database]) { $1 })
    guard output.status == 0 else { throw ProgramFailure(description: "psql: \(output.messages)") }
    return output.text.trimmingCharacters(in: .newlines)
  }

  /// What PostgreSQL's programs need to find it.
  package var environment: [String: String] {
    ["PGHOST": socketFolder, "PGUSER": "tests", "PGDATABASE": "postgres"]
  }

  package func stop() {
    running.end()
    try? FileManager.default.removeItem(atPath: folder)
  }

  // MARK: Starting

  /// The folder of the newest version's programs.
  private static func programs() throws -> String {
    let base = "/usr/lib/postgresql"
    let versions = ((try? FileManager.default.contentsOfDirectory(atPath: base)) ?? []).compactMap { Int($0) }.sorted()
    guard let version = versions.last, FileManager.default.isExecutableFile(atPath: "\(base)/\(version)/bin/initdb")
    else { throw ProgramFailure(description: "the package postgresql is not installed") }
    return "\(base)/\(version)/bin"
  }

  /// A folder in memory where there is one, which belongs to the user who runs the server.
  private static func makeFolder() throws -> String {
    let base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    let folder = "\(base)/pg-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    guard geteuid() == 0 else { return folder }
    guard let user = getpwnam("postgres"), chown(folder, user.pointee.pw_uid, user.pointee.pw_gid) == 0 else {
      throw noUser
    }
    return folder
  }

  private func waitUntilReady(_ programs: String) throws {
    let port = options.last { $0.hasPrefix("port=") }?.dropFirst("port=".count) ?? "5432"
    for _ in 0..<600 {
      if try Programs.run("\(programs)/pg_isready", ["-q", "-h", socketFolder, "-p", "\(port)"]).status == 0 { return }
      guard running.isRunning else { break }
      usleep(50_000)
    }
    let log = (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? ""
    throw ProgramFailure(description: "it does not start: \(log)")
  }
}
