import CSV
import DefinitionTestSupport
import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// An inbox for one test.
struct InboxFolder {
  let folder: TemporaryFolder
  /// The files are as old as their names' ages say, seen from here.
  let now = Date()

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path("in"), withIntermediateDirectories: true)
  }

  func path(_ name: String) -> String { folder.path("in/\(name)") }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

  @discardableResult
  func write(_ text: String = "x\n", to name: String, age seconds: Double = 60) throws -> String {
    let path = try folder.write(text, to: "in/\(name)")
    try setAge(name, seconds)
    return path
  }

  func setAge(_ name: String, _ seconds: Double) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: now.addingTimeInterval(-seconds)], ofItemAtPath: path(name))
  }

  /// The inbox; the pause between two looks is what `between` does.
  func inbox(
    _ definition: InboxDefinition? = nil, settleSeconds: Double = 10, between: @escaping @Sendable () -> Void = {}
  ) -> Inbox {
    var definition = definition ?? InboxDefinition(folder: "in")
    definition.settleSeconds = settleSeconds
    let pipeline = PipelineDefinition(
      name: "p", baseDirectory: URL(fileURLWithPath: folder.url.path, isDirectory: true), vocabulary: .journal)
    var inbox = Inbox(definition, in: pipeline)
    let now = now
    inbox.now = { now }
    inbox.pause = { _ in between() }
    return inbox
  }

  func reasons(_ listing: Inbox.Listing) -> [String: Inbox.Reason] {
    Dictionary(uniqueKeysWithValues: listing.leftAlone.map { ($0.name, $0.reason) })
  }
}

/// Which files of an inbox are taken, and which are left alone and why.
@Suite struct InboxTests {
  private let files: InboxFolder
  init() throws { files = try InboxFolder() }

  @Test func `Files come by age, and by name where they are equally old`() throws {
    try files.write(to: "b.csv", age: 100)
    try files.write(to: "c.csv", age: 300)
    try files.write(to: "a.csv", age: 100)
    try files.write(to: "z.csv.gz", age: 200)
    let listing = try files.inbox().list()
    #expect(listing.ready.map(\.name) == ["c.csv", "z.csv.gz", "a.csv", "b.csv"])
    #expect(listing.ready.first?.path == files.path("c.csv"))
    #expect(listing.leftAlone.isEmpty)
  }

  @Test func `What is not an input is left alone, each for its reason`() throws {
    for name in [".hidden.csv", "a.csv.part", "a.csv.tmp", "a.csv.crdownload", "a.csv~", "notes.md", "good.csv"] {
      try files.write(to: name)
    }
    for name in ["processed", "folder.csv"] { #expect(mkdir(files.path(name), 0o755) == 0) }
    #expect(mkfifo(files.path("pipe.csv"), 0o644) == 0)
    #expect(symlink("nowhere", files.path("broken.csv")) == 0)
    #expect(symlink("folder.csv", files.path("to-folder.csv")) == 0)
    #expect(symlink("pipe.csv", files.path("to-pipe.csv")) == 0)
    #expect(symlink("good.csv", files.path("to-good.csv")) == 0)
    let listing = try files.inbox(InboxDefinition(folder: "in", pattern: ["*.csv*"])).list()
    #expect(Set(listing.ready.map(\.name)) == ["good.csv", "to-good.csv"])
    #expect(
      files.reasons(listing) == [
        ".hidden.csv": .hidden, "a.csv.part": .temporary, "a.csv.tmp": .temporary, "a.csv.crdownload": .temporary,
        "a.csv~": .temporary, "notes.md": .unmatched, "processed": .folder, "folder.csv": .folder,
        "pipe.csv": .special, "broken.csv": .brokenLink, "to-folder.csv": .folder, "to-pipe.csv": .special,
      ])
    #expect(listing.leftAlone.map(\.name) == listing.leftAlone.map(\.name).sorted())
  }

  static let patterns: [(patterns: [String], taken: Set<String>)] = [
    (["*.csv", "*.csv.gz"], ["log-1.csv", "log-22.csv", "LOG.csv", "log.csv.gz"]),
    (["log-?.csv"], ["log-1.csv"]),
    (["[a-z]*.csv"], ["log-1.csv", "log-22.csv"]),
    (["*.gz", "LOG*"], ["log.csv.gz", "LOG.csv"]),
  ]

  @Test(arguments: patterns)
  func `Patterns are the shell's`(patterns: [String], taken: Set<String>) throws {
    for name in ["log-1.csv", "log-22.csv", "LOG.csv", "log.csv.gz", "other.txt"] { try files.write(to: name) }
    let listing = try files.inbox(InboxDefinition(folder: "in", pattern: patterns)).list()
    #expect(Set(listing.ready.map(\.name)) == taken)
  }

  @Test(arguments: [(0.0, false), (9.0, false), (11.0, true), (3600.0, true)])
  func `A file is taken once it has been left unchanged for long enough`(age: Double, isReady: Bool) throws {
    try files.write(to: "a.csv", age: age)
    let listing = try files.inbox().list()
    #expect(listing.ready.count == (isReady ? 1 : 0))
    #expect(files.reasons(listing) == (isReady ? [:] : ["a.csv": .unsettled]))
  }

  @Test func `With settleSeconds 0 everything is taken at once`() throws {
    try files.write(to: "a.csv", age: 0)
    try files.write(to: "b.csv", age: -500)
    let inbox = files.inbox(settleSeconds: 0) { Issue.record("there is nothing to wait for") }
    #expect(try inbox.list().ready.map(\.name) == ["a.csv", "b.csv"])
  }

  @Test(arguments: [3600.0, -3600.0])
  func `A file that grows under an old or future time is left alone`(age: Double) throws {
    try files.write(to: "a.csv", age: age)
    try files.write(to: "steady.csv", age: age)
    let files = files
    let inbox = files.inbox {
      do {
        let writer = try #require(FileHandle(forWritingAtPath: files.path("a.csv")))
        try writer.seekToEnd()
        try writer.write(contentsOf: Data("more\n".utf8))
        try writer.close()
        try files.setAge("a.csv", age)
      } catch { Issue.record(error) }
    }
    let listing = try inbox.list()
    #expect(listing.ready.map(\.name) == ["steady.csv"])
    #expect(files.reasons(listing) == ["a.csv": .growing])
  }

  @Test func `A file that goes between two looks was not an input`() throws {
    try files.write(to: "a.csv")
    let path = files.path("a.csv")
    let listing = try files.inbox { unlink(path) }.list()
    #expect(listing == Inbox.Listing())
  }

  /// Every user who may write to the folder can exchange it.
  @Test func `A file that has become a link since the listing is not read; one that was replaced is`() throws {
    try files.write("listed\n", to: "a.csv")
    try files.folder.write("of its owner\n", to: "private")
    let file = try #require(try files.inbox().list().ready.first)
    func text() throws -> String {
      let source = try InputOpener(InputFile(name: file.name, path: file.path, inboxFile: file)).completeSource()
      var bytes: [UInt8] = []
      while try source.read(appendingTo: &bytes) > 0 {}
      return String(decoding: bytes, as: UTF8.self)
    }
    #expect(try text() == "listed\n")
    #expect(rename(file.path, files.path("moved")) == 0 && symlink("moved", file.path) == 0)
    #expect(try text() == "listed\n", "it leads to the file that was listed")
    try files.folder.write("replaced\n", to: "in/other")
    #expect(rename(files.path("other"), file.path) == 0)
    #expect(try text() == "replaced\n")
    for target in ["../private", "other-pipe"] {
      #expect(unlink(file.path) == 0 && symlink(target, file.path) == 0)
      #expect { try text() } throws: { ($0 as? CSVError)?.code == .source }
    }
    #expect(unlink(file.path) == 0 && mkfifo(file.path, 0o600) == 0)
    #expect { try text() } throws: { "\($0)".contains("it is a FIFO") }
  }

  @Test func `Two looks are a second apart at most, and only where a file gives reason to`() throws {
    let waits = Locked<[Double]>([])
    try files.write(to: "a.csv")
    for settleSeconds in [0.25, 30.0] {
      var inbox = files.inbox(settleSeconds: settleSeconds)
      inbox.pause = { seconds in waits.withLock { $0.append(seconds) } }
      _ = try inbox.list()
      // An hour later the time of the last change tells that nothing has happened since.
      let now = files.now
      inbox.now = { now.addingTimeInterval(3600) }
      _ = try inbox.list()
    }
    #expect(waits.withLock { $0 } == [0.25, 1])
  }

  @Test func `A name that is not UTF-8 is reported, not passed over`() throws {
    let create = """
      import os
      for name in [b"b\\xff\\xc3\\xa9.csv", b"\\xff.csv.part", b"\\xff.md"]:
          open(os.path.join(os.fsencode("\(files.path(""))"), name), "w").close()
      """
    _ = try python(create)
    let listing = try files.inbox().list()
    #expect(listing.ready.isEmpty)
    #expect(
      files.reasons(listing) == [
        #"b\xFFé.csv"#: .unreadableName, #"\xFF.csv.part"#: .temporary, #"\xFF.md"#: .unmatched,
      ])
  }

  @Test func `An inbox that is not there is a missing input`() throws {
    let inbox = files.inbox(InboxDefinition(folder: "nowhere"))
    do {
      _ = try inbox.list()
      Issue.record("there is no such folder")
    } catch {
      #expect(error.exitCode == .noInput)
      #expect(
        error.message == "the inbox \(files.folder.path("nowhere")) can't be read: the folder does not exist; make it")
    }
  }

  @Test func `Paths start at the definition's folder, those of the inbox's own folders at the inbox`() {
    let inside = files.inbox()
    #expect(inside.folder == files.folder.path("in"))
    #expect(inside.processed == files.path("processed"))
    #expect(inside.failed == files.path("failed"))
    let outside = files.inbox(InboxDefinition(folder: "in", processed: "../done", failed: "/var/failed"))
    #expect(outside.processed == files.folder.path("done"))
    #expect(outside.failed == "/var/failed")
  }
}
