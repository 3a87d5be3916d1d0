import Foundation
import TestSupport
import Testing

/// Commands that only read change nothing of a store: not a byte, not a time, no name in its folder, also where the
/// store is named by a symbolic link, and nothing stays in the temporary folder.
@Suite struct UntouchedStoreTests {
  private let folder: TemporaryFolder

  static let readers = [
    ["inspect", "STORE"], ["verify", "STORE"], ["list", "--store", "STORE"], ["show", "1", "--store", "STORE"],
    ["export", "--store", "STORE", "-q"], ["diff", "log.csv", "--store", "STORE", "--key", "date"],
    ["history", "STORE"], ["add", "--store", "STORE", "--date", "2014-07-14", "--dry-run"],
  ]

  init() throws {
    folder = try TemporaryFolder()
    try folder.makeFolder("real")
    try folder.makeFolder("elsewhere")
    try folder.write(Logs.two, to: "log.csv")
    let made = try Tool.run("import", "log.csv", "--store", "real/journal.sqlite", in: folder)
    try #require(made.status == 0, "\(made.messages)")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("elsewhere/link.sqlite"), withDestinationPath: "../real/journal.sqlite")
  }

  /// Rows that a program leaves in the -wal when it is killed.
  private static let killed = """
    import os, sqlite3, sys
    store = sqlite3.connect(sys.argv[1], isolation_level=None)
    store.execute("PRAGMA wal_autocheckpoint = 0")
    for place in range(int(sys.argv[2])):
        store.execute("BEGIN")
        store.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1")
        store.execute("INSERT INTO ZJOURNALENTRY(Z_PK, Z_ENT, Z_OPT, ZLOCATION) SELECT Z_MAX, 1, 1, ? FROM Z_PRIMARYKEY", (sys.argv[3],))
        store.execute("COMMIT")
    os._exit(0)
    """

  private func leaveWAL(rows: Int = 1, location: String = "Left") throws {
    _ = try Programs.python(Self.killed, "real/journal.sqlite", "\(rows)", location, in: folder)
    try #require(folder.exists("real/journal.sqlite-wal") && folder.exists("real/journal.sqlite-shm"))
  }

  /// Names, times in nanoseconds and contents of the store's folder and of the link's.
  private func state() throws -> String {
    let script = """
      import hashlib, os
      for name in ("real", "elsewhere"):
          print(name, os.stat(name).st_mtime_ns)
          for file in sorted(os.listdir(name)):
              path = os.path.join(name, file)
              print(path, os.lstat(path).st_mtime_ns, hashlib.sha256(open(path, "rb").read()).hexdigest())
      """
    return try Programs.python(script, in: folder)
  }

  private func expectUntouched(_ arguments: [String], _ store: String, shows rows: Int? = nil) throws {
    let before = try state()
    let words = arguments.map { $0 == "STORE" ? store : $0 }
    let output = try Programs.run(Tool.url.path, words, in: folder)
    #expect([0, 1].contains(output.status), "\(words): \(output.text)\(output.messages)")
    #expect(try state() == before, "\(words)")
    if let rows, words[0] == "export" { #expect(output.text.split(separator: "\n").count == rows + 1) }
  }

  @Test(arguments: ["elsewhere/link.sqlite", "real/journal.sqlite"])
  func `A store with a WAL stays as it is, whatever name it has, and its WAL is read`(_ store: String) throws {
    try leaveWAL(rows: 3)
    for reader in Self.readers { try expectUntouched(reader, store, shows: 5) }
    try FileManager.default.removeItem(atPath: folder.path("real/journal.sqlite-shm"))
    for reader in Self.readers { try expectUntouched(reader, store, shows: 5) }
  }

  @Test(arguments: ["elsewhere/link.sqlite", "real/journal.sqlite"])
  func `Next to a store without a WAL none appears, not even for a moment`(_ store: String) throws {
    try #require(try Programs.python("import os; print(os.listdir('real'))", in: folder) == "['journal.sqlite']\n")
    for reader in Self.readers { try expectUntouched(reader, store, shows: 2) }
  }

  @Test func `An import through a link writes the file that it leads to, with one lock, log and support folder`() throws
  {
    try folder.write(Logs.header + "2015-07-14T07:30:00Z,3.9,12,Glassy,Rincon,4\n", to: "more.csv")
    let output = try Tool.run("import", "more.csv", "--store", "elsewhere/link.sqlite", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try Programs.python("import os; print(os.listdir('elsewhere'))", in: folder) == "['link.sqlite']\n")
    let count = try Programs.sqlite("real/journal.sqlite", "SELECT count(*) FROM ZJOURNALENTRY", in: folder)
    #expect(count == "3\n")
    // A link to a store that does not exist yet leads to the store that is made.
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("elsewhere/new.sqlite"), withDestinationPath: "../real/new.sqlite")
    #expect(try Tool.run("import", "more.csv", "--store", "elsewhere/new.sqlite", in: folder).status == 0)
    #expect(
      try Programs.python("import os; print(sorted(os.listdir('real')))", in: folder)
        == "['journal.sqlite', 'new.sqlite']\n")
  }

  @Test func `Values in files are found through a link`() throws {
    let name = "6D0A3E0C-98E5-4B61-8A4B-6D2D3C1F7A55"
    try folder.makeFolder("People.xcdatamodel")
    try folder.write(
      """
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Person">
          <attribute name="name" optional="YES" attributeType="String"/>
          <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
        </entity>
      </model>
      """, to: "People.xcdatamodel/contents")
    try folder.write("name\nAda\n", to: "people.csv")
    let model = ["--model", "People.xcdatamodel"]
    let made = try Programs.run(
      Tool.url.path, ["import", "people.csv", "--entity", "Person", "--store", "real/people.sqlite"] + model,
      in: folder)
    try #require(made.status == 0, "\(made.messages)")
    _ = try Programs.sqlite(
      "real/people.sqlite", "UPDATE ZPERSON SET ZPHOTO = CAST(x'02' || '\(name)' || x'00' AS BLOB)", in: folder)
    try folder.makeFolder("real/.people_SUPPORT/_EXTERNAL_DATA")
    try folder.write("hello", to: "real/.people_SUPPORT/_EXTERNAL_DATA/\(name)")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("elsewhere/linked.sqlite"), withDestinationPath: folder.path("real/people.sqlite"))
    let output = try Programs.run(
      Tool.url.path, ["export", "--entity", "Person", "--store", "elsewhere/linked.sqlite", "-q"] + model, in: folder)
    #expect(output.status == 0 && output.text.contains("aGVsbG8="), "\(output.text)\(output.messages)")
    let checked = try Programs.run(Tool.url.path, ["verify", "elsewhere/linked.sqlite"] + model, in: folder)
    #expect(checked.status == 0, "\(checked.text)")
  }

  @Test func `A store that another program has open is read with what it has committed`() throws {
    let script = """
      import sqlite3, sys, time
      store = sqlite3.connect(sys.argv[1], isolation_level=None)
      store.execute("INSERT INTO ZJOURNALENTRY(Z_PK, Z_ENT, Z_OPT, ZLOCATION) VALUES(9, 1, 1, 'Open')")
      store.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 9")
      print("ready", flush=True)
      time.sleep(60)
      """
    let other = try RunningProgram(script, folder.path("real/journal.sqlite"))
    defer { other.stop() }
    for reader in Self.readers { try expectUntouched(reader, "elsewhere/link.sqlite", shows: 3) }
  }

  @Test func `A program that writes while a store is read makes the reader end with 75, or changes nothing`() throws {
    // The reader waits in the middle of the store, because a pipe does not hold what it writes.
    try Logs.write(records: 60_000, to: "many.csv", in: folder)
    #expect(try Tool.run("import", "many.csv", "--store", "real/many.sqlite", in: folder).status == 0)
    let script = """
      import sqlite3, subprocess, sys, time
      reader = subprocess.Popen([sys.argv[1], "export", "--store", "real/many.sqlite", "-q"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, bufsize=0)
      first = reader.stdout.read(1)
      writer = sqlite3.connect("real/many.sqlite", isolation_level=None)
      writer.execute("UPDATE ZJOURNALENTRY SET ZLOCATION = ?", sys.argv[2:])
      if sys.argv[2] == "checkpoint": writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      rest, messages = reader.communicate()
      print(reader.returncode, len((first + rest).splitlines()), sys.argv[2].encode() in rest, b"while it was read" in messages)
      """
    let committed = try Programs.python(script, Tool.url.path, "commit", in: folder)
    #expect(committed == "0 60001 False False\n")
    let changed = try Programs.python(script, Tool.url.path, "checkpoint", in: folder)
    #expect(changed.hasPrefix("75 ") && changed.hasSuffix("True\n"), "\(changed)")
  }

  // MARK: Refused writes

  @Test func `A refused write leaves the WAL where it is`() throws {
    try leaveWAL(rows: 3)
    let files = ["real/journal.sqlite", "real/journal.sqlite-wal"]
    let before = try folder.hashes(files)
    let refused = [
      ["add", "--store", "real/journal.sqlite", "--rating", "9", "--date", "2014-07-14", "-y"],
      ["edit", "99", "--store", "real/journal.sqlite", "--rating", "3", "-y"],
      ["delete", "99", "--store", "real/journal.sqlite", "-y"],
    ]
    for words in refused {
      let output = try Programs.run(Tool.url.path, words, in: folder)
      #expect(output.status != 0, "\(words): \(output.text)")
      #expect(try folder.hashes(files) == before, "\(words)")
    }
    // A store whose history has other tables than those of Apple's framework is not written to.
    _ = try Programs.python(
      """
      import os, sqlite3
      store = sqlite3.connect("real/journal.sqlite")
      store.execute("CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY)")
      store.execute("INSERT INTO ATRANSACTION VALUES (1)")
      store.commit()
      os._exit(0)
      """, in: folder)
    let tracked = try folder.hashes(files)
    for words in [
      ["add", "--store", "real/journal.sqlite", "--date", "2014-07-14", "-y"],
      ["import", "log.csv", "--store", "real/journal.sqlite", "--again"],
    ] {
      let output = try Programs.run(Tool.url.path, words, in: folder)
      #expect(output.status == 65 && output.messages.contains("history"), "\(output.messages)")
      #expect(try folder.hashes(files) == tracked, "\(words)")
    }
  }

  @Test func `A write that is not refused checkpoints the log that it found`() throws {
    try leaveWAL(rows: 3)
    let output = try Tool.run("add", "--store", "real/journal.sqlite", "--date", "2014-07-14", "-y", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try Programs.python("import os; print(os.listdir('real'))", in: folder) == "['journal.sqlite']\n")
  }

  // MARK: Signals

  @Test(arguments: ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
  func `A signal leaves no copy of the store, or the next command removes it`(_ signal: String) throws {
    try folder.makeFolder("temporary")
    // More than a pipe takes.
    try leaveWAL(rows: 3000, location: String(repeating: "Left ", count: 40))
    try FileManager.default.removeItem(atPath: folder.path("real/journal.sqlite-shm"))
    let script = """
      import os, signal, subprocess, sys
      for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(ending, signal.SIG_DFL)
      environment = dict(os.environ, TMPDIR=os.path.abspath("temporary"))
      def run(*words): return subprocess.run([sys.argv[1], *words], env=environment, capture_output=True)
      for words in (["list", "--csv"], ["export", "-q"]):
          # The program waits because nothing reads what it prints.
          reader = subprocess.Popen([sys.argv[1], *words, "--store", "real/journal.sqlite"], env=environment,
                                    stdout=subprocess.PIPE)
          reader.stdout.read(1)
          print(len(os.listdir("temporary")), end=" ")
          number = getattr(signal, sys.argv[2])
          reader.send_signal(number)
          if words[0] == "export" and number in (signal.SIGINT, signal.SIGTERM): reader.communicate()
          elif reader.wait() != -number: print("status", reader.returncode)
          if number == signal.SIGKILL: print(run("verify", "real/journal.sqlite").returncode, end=" ")
          print(os.listdir("temporary"), end=" ")
      """
    let wanted = signal == "SIGKILL" ? "1 0 [] 1 0 [] " : "1 [] 1 [] "
    #expect(try Programs.python(script, Tool.url.path, signal, in: folder) == wanted)
  }
}
