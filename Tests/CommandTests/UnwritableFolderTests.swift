import Foundation
import TestSupport
import Testing

// Rule: reading works where neither the folder nor the file can be written, whatever files a crash or a copy has left
// there, and changes none of them.

@Suite("A store is read by a user who may write neither to it nor to its folder")
struct UnwritableFolderTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.write("date,location,rating\n2024-05-01,Malibu,4\n2024-05-02,Rincon,5\n", to: "log.csv")
  }

  /// Lines of Python that leave the store `s` in a state; `c` is a connection, and the process ends without closing it.
  static let states = [
    "a log and its index": "c.execute('PRAGMA wal_autocheckpoint = 0'); \(change); end()",
    "a log alone": "c.execute('PRAGMA wal_autocheckpoint = 0'); \(change); os.remove('s-shm'); end()",
    "a log's index alone":
      "\(change); c.execute('PRAGMA wal_checkpoint(FULL)').fetchall(); os.remove('s-wal'); end()",
    "neither, in a file that uses a log": "\(change); c.close()",
    "neither, in a file that uses journals": "\(change); c.execute('PRAGMA journal_mode = DELETE'); c.close()",
    "a hot journal":
      "\(change); c.execute('PRAGMA journal_mode = DELETE'); c.execute('PRAGMA cache_size = 1'); c.execute('BEGIN'); "
      + "c.execute('DELETE FROM ZJOURNALENTRY'); c.execute('CREATE TABLE filler(x)'); [c.execute('INSERT INTO filler "
      + "VALUES(randomblob(4000))') for _ in range(50)]; end()",
  ]
  private static let change = "c.execute(\"UPDATE ZJOURNALENTRY SET ZLOCATION = 'Trestles' WHERE Z_PK = 2\")"

  @Test(arguments: states.keys.sorted())
  func `Its rows are read, and nothing changes`(_ state: String) throws {
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 0)
    let script = """
      import os, sqlite3
      c = sqlite3.connect("s", isolation_level=None)
      end = lambda: os._exit(0)
      \(Self.states[state] ?? "")
      """
    _ = try Programs.python(script, in: folder)
    let files = try folder.names.filter { $0.hasPrefix("s") }
    for file in files { try folder.setMode(0o444, of: file) }
    // The program's copy is made while the folder can be written to.
    _ = try Unprivileged.run("--version", in: folder)
    try folder.setMode(0o555, of: ".")
    defer { try? folder.setMode(0o755, of: ".") }
    let before = try folder.hashes(files)
    let names = try folder.names
    let output = try Unprivileged.run("export", "--store", "s", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(output.text.contains("Malibu") && output.text.contains("Trestles"), "\(output.text)")
    #expect(try folder.hashes(files) == before)
    #expect(try folder.names == names)
  }
}
