import Foundation
import TestSupport
import Testing

/// A server that wants passwords and TLS, as servers in a network do: files of passwords, services and certificates mean
/// what they mean to libpq, and no list of processes shows a password.
@Suite(.enabled(if: PostgreSQLServer.isThere, serverComment)) struct ServerConnectionTests {
  private static let password = "säsame%:x@y"

  /// A server on a port of this machine.
  private final class SecureServer {
    let folder: TemporaryFolder
    let server: PostgreSQLServer
    let port: Int

    init() throws {
      folder = try TemporaryFolder()
      try Programs.output(of: ["chmod", "755", folder.url.path])
      try Programs.output(
        of: [
          "openssl", "req", "-new", "-x509", "-days", "2", "-nodes", "-subj", "/CN=localhost", "-out", "server.crt",
          "-keyout", "server.key",
        ], in: folder)
      if geteuid() == 0 { try Programs.output(of: ["chown", "postgres", "server.key"], in: folder) }
      try folder.write("local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n", to: "hba.conf")
      port = Int.random(in: 20_000..<30_000)
      server = try PostgreSQLServer(settings: [
        "listen_addresses=127.0.0.1", "port=\(port)", "ssl=on", "ssl_cert_file=\(folder.file("server.crt").path)",
        "ssl_key_file=\(folder.file("server.key").path)", "hba_file=\(folder.file("hba.conf").path)",
      ])
      try Programs.output(
        of: [
          "env", "PGHOST=\(server.socketFolder)", "PGPORT=\(port)", "psql", "-X", "-q", "-U", "tests", "-d", "postgres",
          "-c", "ALTER ROLE tests PASSWORD '\(password)'",
        ])
      let escaped = password.replacingOccurrences(of: ":", with: "\\:")
      try folder.write("*:\(port):*:tests:\(escaped)\n", to: "passwords")
      try Programs.output(of: ["chmod", "600", "passwords"], in: folder)
      try folder.write(
        """
        [journal]
        host=localhost
        port=\(port)
        user=tests
        dbname=postgres
        sslmode=verify-full
        sslrootcert=\(folder.file("server.crt").path)

        """, to: "services")
      try folder.write("date,location,rating\n2014-01-02,Rincon,3\n", to: "a.csv")
    }

    deinit { server.stop() }

    func run(_ arguments: String..., variables: [String: String] = [:]) throws -> ProgramOutput {
      let files = ["PGPASSFILE": folder.file("passwords").path, "PGSERVICEFILE": folder.file("services").path]
      return try Programs.run(
        Tool.url.path, arguments, in: folder, environment: files.merging(variables) { $1 })
    }
  }

  @Test func `Files of passwords and services, and the modes of TLS, are libpq's`() throws {
    let secure = try SecureServer()
    let imported = try secure.run("import", "a.csv", "--store", "postgresql://?service=journal")
    #expect(imported.status == 0, "\(imported.messages)")
    let base = "localhost:\(secure.port)/postgres"
    let certificate = secure.folder.file("server.crt").path
    let listed = try secure.run(
      "list", "postgresql://tests@\(base)?sslmode=verify-full&sslrootcert=\(certificate)", "--format", "csv")
    #expect(listed.text.contains("Rincon"), "\(listed.messages)")
    let others = try secure.run("list", "postgresql://tests@127.0.0.1:\(secure.port),localhost:\(secure.port)/postgres")
    #expect(others.status == 0, "\(others.messages)")
    // The server wants TLS, and its certificate is that of another name.
    for (address, status) in [
      ("postgresql://tests@\(base)?sslmode=disable", 77),
      ("postgresql://tests@127.0.0.1:\(secure.port)/postgres?sslmode=verify-full&sslrootcert=\(certificate)", 69),
    ] {
      let refused = try secure.run("list", address)
      #expect(Int(refused.status) == status, "\(address): \(refused.messages)")
    }
    for (address, variables) in [
      ("postgresql://tests:sesame@\(base)", ["PGPASSFILE": "/dev/null"]),
      ("postgresql://?service=journal", ["PGPASSFILE": "/dev/null"]),
    ] {
      let refused = try secure.run("list", address, variables: variables)
      #expect(refused.status == 77 && refused.messages.contains("PGPASSFILE"), "\(refused.messages)")
      #expect(!refused.messages.contains("sesame"))
    }
  }

  @Test func `The list of processes has no password`() throws {
    let folder = try TemporaryFolder()
    // Nothing answers there, and a worker tries it again for some time.
    let address = "postgresql://tests:\(Self.password)@/postgres?host=\(folder.url.path)&password=secret"
    let process = Programs.process(Tool.url.path, ["work", "--plan", "1", "--store=\(address)"], in: folder)
    process.standardError = FileHandle.nullDevice
    try process.start()
    defer { process.terminate() }
    func arguments() -> String {
      let bytes = FileManager.default.contents(atPath: "/proc/\(process.processIdentifier)/cmdline") ?? Data()
      return String(decoding: bytes, as: UTF8.self)
    }
    let end = Date(timeIntervalSinceNow: 20)
    while !arguments().contains("tests:****"), Date() < end { usleep(20_000) }
    #expect(process.isRunning && arguments().hasSuffix("&password=******\0"), "\(arguments())")
    #expect(!arguments().contains("same") && !arguments().contains("secret"))
  }

  @Test(arguments: [
    ("sslmode=bogus", "invalid sslmode value"), ("connect_timeout=abc", "invalid integer value"),
    ("port=99999", "invalid port number"), ("service=nope", "definition of service \"nope\" not found"),
    ("options=-cnonsense%3D1", "unrecognized configuration parameter"), ("nothing=1", "invalid URI query parameter"),
  ])
  func `64: a setting that libpq or the server does not take ends each command at once, with the reason`(
    setting: String, reason: String
  ) throws {
    let folder = try TemporaryFolder()
    try folder.write("date,location,rating\n2014-01-02,Rincon,3\n", to: "a.csv")
    let address = "\(try #require(PostgreSQLServer.shared?.address()).absoluteString)&\(setting)"
    let start = Date()
    for arguments in [
      ["list", address], ["history", address], ["verify", address], ["import", "a.csv", "--store", address],
      ["plan", "surf-log", "a.csv", "--store", address], ["work", "--plan", "1", "--store", address],
      ["report", "--plan", "1", "--store", address], ["undo", address, "--yes"], ["copy", address, "s.sqlite"],
    ] {
      let refused = try Programs.run(Tool.url.path, arguments, in: folder)
      #expect(refused.status == 64, "\(arguments): \(refused.status) \(refused.messages)")
      #expect(refused.messages.contains(reason) && !refused.messages.contains("is running"), "\(refused.messages)")
    }
    // A worker tries again for a minute what may pass.
    #expect(Date().timeIntervalSince(start) < 45)
  }

  @Test func `66: a database without a store, of each command that reads one`() throws {
    let journal = try ServerJournal()
    for arguments in [
      ["list", "STORE"], ["history", "STORE"], ["verify", "STORE"], ["inspect", "STORE"], ["undo", "STORE", "--yes"],
      ["work", "--plan", "1", "--store", "STORE"], ["report", "--plan", "1", "--store", "STORE"],
    ] {
      let refused = try journal.run(arguments)
      #expect(refused.status == 66, "\(arguments): \(refused.status) \(refused.messages)")
    }
  }

  @Test func `69: libpq is not installed; a store in a file needs none, and does not load one that is there`() throws {
    let folder = try TemporaryFolder()
    try folder.makeFolder("broken")
    try folder.write("", to: "broken/libpq.so.5")
    try folder.write("date,location,rating\n2014-01-02,Rincon,3\n", to: "a.csv")
    let environment = ["LD_LIBRARY_PATH": folder.path("broken")]
    let address = "postgresql://anna@127.0.0.1:1/journal"
    for arguments in [
      ["import", "a.csv", "--store", address], ["list", address], ["work", "--plan", "1", "--store", address],
    ] {
      let refused = try Programs.run(Tool.url.path, arguments, in: folder, environment: environment)
      #expect(refused.status == 69, "\(arguments): \(refused.status) \(refused.messages)")
      #expect(refused.messages.contains("Install the package libpq5"), "\(refused.messages)")
    }
    for arguments in [["import", "a.csv", "--store", "s"], ["list", "s"], ["history", "s"], ["export", "s"]] {
      let done = try Programs.run(Tool.url.path, arguments, in: folder, environment: environment)
      #expect(done.status == 0, "\(arguments): \(done.messages)")
    }
    // The loader says what it looks for.
    let tracing = ["LD_DEBUG": "libs"]
    for (store, loads) in [("s", false), (address, true)] {
      let traced = try Programs.run(Tool.url.path, ["list", store], in: folder, environment: tracing)
      #expect(traced.messages.contains("libc.so.6") && traced.messages.contains("libpq.so.5") == loads, "\(store)")
    }
  }
}
