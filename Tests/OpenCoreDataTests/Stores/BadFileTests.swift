import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (CoreDataErrors.h: 134080 cannot open, 134090 timeout, 134100 model and store do not match): each bad file is
// an error that says what is wrong and what to do, for reading and for writing, and the file stays as it was.

@Suite("A bad file is a clear error, and stays as it was")
struct BadFileTests {
  /// A file made for the purpose, and words that its error must have.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let words: [String]
    var code = NSPersistentStoreOpenError
    let make: @Sendable (_ store: URL) throws -> Void
    var testDescription: String { name }
  }

  static let cases = [
    Case(name: "text", words: ["not a database", "Check the path"]) {
      try Data(String(repeating: "a letter, not a store\n", count: 300).utf8).write(to: $0)
    },
    Case(name: "encrypted", words: ["encrypted", "decrypt it with the program that wrote it"]) {
      var generator = SeededGenerator(seed: 7)
      try Data((0..<8192).map { _ in UInt8.random(in: 0...255, using: &generator) }).write(to: $0)
    },
    Case(name: "cut off", words: ["cut off", "pages of 4096", "restore it from a copy"]) {
      try Data(contentsOf: $0).prefix(4096 * 3).write(to: $0)
    },
    Case(name: "header only", words: ["cut off", "restore it from a copy"]) {
      try Data(contentsOf: $0).prefix(100).write(to: $0)
    },
    Case(name: "short", words: ["not a database"]) { try Data(contentsOf: $0).prefix(60).write(to: $0) },
    Case(name: "zeros next to a journal of pages", words: ["not a database", "Check the path"]) {
      try Data(count: 8192).write(to: $0)
      try journal(pagesBefore: 3).write(to: URL(fileURLWithPath: $0.path + "-journal"))
    },
    Case(name: "text next to a journal of a new file", words: ["not a database", "Check the path"]) {
      try Data(String(repeating: "a letter, not a store\n", count: 300).utf8).write(to: $0)
      try journal(pagesBefore: 0).write(to: URL(fileURLWithPath: $0.path + "-journal"))
    },
    Case(name: "folder", words: ["it is a folder", "Name the store's file"]) {
      try FileManager.default.removeItem(at: $0)
      try FileManager.default.createDirectory(at: $0, withIntermediateDirectories: false)
    },
    Case(name: "pipe", words: ["not a regular file"]) {
      try FileManager.default.removeItem(at: $0)
      try #require(mkfifo($0.path, 0o600) == 0)
    },
    Case(name: "below a file", words: ["Check the path"]) {
      try FileManager.default.removeItem(at: $0.deletingLastPathComponent())
      try Data().write(to: $0.deletingLastPathComponent())
    },
    Case(name: "database of others", words: ["not a Core Data store", "Z_METADATA"]) {
      try FileManager.default.removeItem(at: $0)
      try sqlite($0, "CREATE TABLE notes(x)")
    },
    Case(name: "no metadata row", words: ["no metadata", "Restore the file"]) {
      try sqlite($0, "DELETE FROM Z_METADATA")
    },
    Case(
      name: "metadata is no property list",
      words: ["Z_METADATA", "too short for a binary property list", "store.sqlite", "Restore the file"]
    ) {
      try sqlite($0, "UPDATE Z_METADATA SET Z_PLIST = x'62706c6973743030ffff00'")
    },
    Case(name: "metadata is text", words: ["no metadata", "Restore the file"]) {
      try sqlite($0, "UPDATE Z_METADATA SET Z_PLIST = 'nothing'")
    },
    Case(name: "entity without number", words: ["Z_PRIMARYKEY", "no row for the entity Session", "restore"]) {
      try sqlite($0, "DELETE FROM Z_PRIMARYKEY")
    },
    Case(name: "other superentity", words: ["Z_PRIMARYKEY", "Z_SUPER", "Session", "restore"]) {
      try sqlite($0, "UPDATE Z_PRIMARYKEY SET Z_SUPER = 4")
    },
    Case(name: "damaged pages", words: ["damaged", "restore it from a copy"]) {
      var bytes = try Data(contentsOf: $0)
      bytes.replaceSubrange(100..<4096, with: Data(repeating: 0xEE, count: 3996))
      try bytes.write(to: $0)
    },
  ]

  @Test("Refused", arguments: cases, [true, false])
  func refused(_ bad: Case, readOnly: Bool) throws {
    let setup = try StoreSetup.closed()
    try sqlite(setup.stack.file, "PRAGMA journal_mode = DELETE")
    let file = try setup.copy([""])
    try bad.make(file)
    let before = try? StoreSetup.contents(beside: file)
    let error = #expect(throws: NSError.self) { try StoreSetup.count(file, readOnly: readOnly) }
    #expect(error?.domain == NSCocoaErrorDomain && error?.code == bad.code)
    let text = error?.localizedDescription ?? ""
    for word in bad.words { #expect(text.contains(word), "\(text)") }
    #expect(text.contains("store.sqlite"), "\(text)")
    #expect((try? StoreSetup.contents(beside: file)) == before)
  }

  @Test("An empty file is not a store to read")
  func empty() throws {
    let folder = try TemporaryFolder()
    try Data().write(to: folder.file("empty.sqlite"))
    let error = #expect(throws: NSError.self) { try StoreSetup.count(folder.file("empty.sqlite")) }
    #expect(error?.code == NSPersistentStoreOpenError && error?.localizedDescription.contains("is empty") == true)
  }

  /// SQLite makes a file in a transaction. The file has its length then, and not always its contents.
  @Test("What a power failure has left of a file that was being made is empty to a reader, and made by a writer")
  func unmade() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("store.sqlite")
    try Data(count: 4096).write(to: file)
    try Self.journal(pagesBefore: 0).write(to: folder.file("store.sqlite-journal"))
    let before = try StoreSetup.contents(beside: file)
    let error = #expect(throws: NSError.self) { try StoreSetup.count(file) }
    #expect(error?.code == NSPersistentStoreOpenError && error?.localizedDescription.contains("is empty") == true)
    #expect(try StoreSetup.contents(beside: file) == before)
    #expect(try StoreSetup.count(file, readOnly: false) == 0)
    #expect(!folder.exists("store.sqlite-journal"))
    #expect(try sqlite(file, "PRAGMA integrity_check; SELECT count(*) FROM Z_METADATA") == "ok\n1")
  }

  /// The beginning of a journal. (SQLite: "Database File Format", 3.)
  private static func journal(pagesBefore: UInt8) -> Data {
    let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    let numbers: [UInt8] = [0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, pagesBefore, 0, 0, 2, 0, 0, 0, 16, 0]
    return Data(magic + numbers) + Data(count: 512 - 28)
  }

  @Test("A store that another process has locked is an error after the timeout", arguments: [true, false])
  func locked(readOnly: Bool) throws {
    let setup = try StoreSetup.closed()
    let file = setup.stack.file
    try sqlite(file, "PRAGMA journal_mode = DELETE")
    let script = """
      import sqlite3, sys, time
      c = sqlite3.connect(sys.argv[1], isolation_level=None)
      c.execute("BEGIN EXCLUSIVE")
      print("ready", flush=True)
      time.sleep(60)
      """
    let other = try RunningProgram(script, file.path)
    defer { withExtendedLifetime(other) {} }
    let error = #expect(throws: NSError.self) { try StoreSetup.count(file, readOnly: readOnly) }
    #expect(error?.code == NSPersistentStoreTimeoutError)
    #expect(error?.localizedDescription.contains("try again when it has finished") == true)
  }
}
