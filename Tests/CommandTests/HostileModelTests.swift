import Foundation
import TestSupport
import Testing

/// Names that an entity can't have, in a model file and in the model that a store keeps: they become neither a file,
/// nor a part of a query, nor an order to a terminal.
@Suite struct HostileModelTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.makeFolder("in/M.xcdatamodel")
  }

  static let names = [
    "../x", "..", "/var/x", "a/b", "a\"b", "a'; DROP TABLE Z_METADATA; --", "a\nb", "a\u{1B}[31m", "\u{202E}a",
    "{part}",
    "</script>", "$(id)", "a\\b",
  ]

  private func run(_ arguments: [String]) throws -> ProgramOutput {
    try Programs.run("/usr/bin/env", ["-C", folder.path("in"), Tool.url.path] + arguments)
  }

  /// The files in and above the folder where the program runs.
  private var files: [String] {
    get throws { try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).sorted() }
  }

  private func expectRefused(_ arguments: [String]) throws {
    let before = try files
    let output = try run(arguments)
    #expect([65, 78].contains(output.status), "\(arguments): \(output.status) \(output.messages)")
    #expect(output.messages.contains("can't be the name of an entity"), "\(output.messages)")
    #expect(HostileTextTests.dangers(in: output.messages + output.text) == [], "\(arguments)")
    #expect(try files == before, "\(arguments)")
    #expect(!FileManager.default.fileExists(atPath: "/var/x.csv"))
  }

  /// XML has no escape for a control character.
  @Test(arguments: names.filter { !$0.contains("\u{1B}") })
  func `A model file that has one makes no store`(_ name: String) throws {
    try folder.write(Self.model(of: name), to: "in/M.xcdatamodel/contents")
    try folder.write("name\nv\n", to: "in/i.csv")
    try expectRefused(["import", "i.csv", "--entity", name, "--model", "M.xcdatamodel", "--store", "s", "-q"])
  }

  private static func model(of name: String) -> String {
    let text = name.unicodeScalars.map { "&#\($0.value);" }.joined()
    return """
      <model>
        <entity name="\(text)"><attribute name="name" optional="YES" attributeType="String"/></entity>
      </model>
      """
  }

  // MARK: Stores that keep their model

  private static let store = "wibosco-revised-v1/CoreDataMigration_Example_1.sqlite"

  /// Copies a store of Apple's, and gives its entity another name: in the model that it keeps, in its metadata, in the
  /// list of entities and as its table.
  private func writeStore(renaming name: String) throws {
    try? FileManager.default.removeItem(at: folder.file("in/s"))
    try FileManager.default.copyItem(at: SharedFiles.stores.appendingPathComponent(Self.store), to: folder.file("in/s"))
    try Programs.python(
      """
      import plistlib, sqlite3, sys, zlib
      new = sys.argv[1]
      store = sqlite3.connect("in/s")
      old, = store.execute("SELECT Z_NAME FROM Z_PRIMARYKEY").fetchone()
      def renamed(value):
          if isinstance(value, dict): return {renamed(key): renamed(part) for key, part in value.items()}
          if isinstance(value, list): return [renamed(part) for part in value]
          return new if value == old else value
      def deflate(data):
          packer = zlib.compressobj(9, zlib.DEFLATED, -15)
          return packer.compress(data) + packer.flush()
      def rename(table, column, unpack, pack):
          content, = store.execute(f"SELECT {column} FROM {table}").fetchone()
          data = plistlib.dumps(renamed(plistlib.loads(unpack(content))), fmt=plistlib.FMT_BINARY)
          store.execute(f"UPDATE {table} SET {column} = ?", (pack(data),))
      rename("Z_MODELCACHE", "Z_CONTENT", lambda data: zlib.decompress(data, -15), deflate)
      rename("Z_METADATA", "Z_PLIST", bytes, bytes)
      store.execute("UPDATE Z_PRIMARYKEY SET Z_NAME = ?", (new,))
      table = ("Z" + new.upper()).replace('"', '""')
      store.execute(f'ALTER TABLE Z{old.upper()} RENAME TO "{table}"')
      store.commit()
      """, name, in: folder)
  }

  @Test(.enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)), arguments: names)
  func `A store whose own model has one is not exported, not to a folder and not to a file`(_ name: String) throws {
    try writeStore(renaming: name)
    try expectRefused(["export", "--store", "s", "--all-entities", "-o", "out"])
    try expectRefused(["export", "--store", "s", "--entity", name, "-o", "x.csv"])
    try expectRefused(["export", "--store", "s", "--entity", name, "-o", "x.csv", "--guess-model"])
    for command in ["inspect", "verify", "list"] {
      let output = try run([command, "s"])
      #expect(HostileTextTests.dangers(in: output.messages + output.text) == [], "\(command)")
    }
  }

  @Test(.enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)))
  func `It is the name: the same store with another one is exported`() throws {
    try writeStore(renaming: "Wave")
    let output = try run(["export", "--store", "s", "--all-entities", "-o", "out"])
    #expect(output.status == 0, "\(output.messages)")
    #expect(try files.filter { $0.hasPrefix("in/out/") } == ["in/out/Wave.csv", "in/out/pipeline.json"])
    #expect(try folder.text("in/out/Wave.csv").split(separator: "\n").count > 1)
  }
}
