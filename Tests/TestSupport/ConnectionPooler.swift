import Foundation

/// pgbouncer before a server of the tests, in transaction mode: each transaction may get another process of the server.
package final class ConnectionPooler {
  private let process: ChildProcess
  private let folder: String
  private let database: String

  package static var isThere: Bool { PostgreSQLServer.isThere && FileManager.default.isExecutableFile(atPath: program) }
  private static let program = "/usr/sbin/pgbouncer"

  /// - Parameter database: A database that is made for it.
  package init(before server: PostgreSQLServer, database: String) throws {
    self.database = database
    _ = try server.psql("CREATE DATABASE \(database) ENCODING 'UTF8' TEMPLATE template0")
    folder = "\(server.socketFolder)/\(database)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    if geteuid() == 0, let user = getpwnam("postgres") { chown(folder, user.pointee.pw_uid, user.pointee.pw_gid) }
    let settings = """
      [databases]
      \(database) = host=\(server.socketFolder) user=tests
      [pgbouncer]
      listen_addr =
      listen_port = 6432
      unix_socket_dir = \(folder)
      auth_type = any
      pool_mode = transaction
      default_pool_size = 3
      logfile = \(folder)/log
      """
    try Data(settings.utf8).write(to: URL(fileURLWithPath: "\(folder)/pgbouncer.ini"))
    let asUser = geteuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] : []
    process = Programs.process("/usr/bin/env", asUser + [Self.program, "-q", "\(folder)/pgbouncer.ini"])
    process.standardInput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.start()
    for _ in 0..<200 where !FileManager.default.fileExists(atPath: "\(folder)/.s.PGSQL.6432") { usleep(20_000) }
    guard process.isRunning else { throw ProgramFailure(description: "pgbouncer does not start") }
  }

  package var address: URL? {
    URL(string: "postgresql:///\(database)?host=\(folder)&port=6432&user=tests")
  }

  deinit {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
