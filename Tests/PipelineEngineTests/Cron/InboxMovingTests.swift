import Foundation
import Synchronization
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// A file that is done with is moved whole, never over another, and only if it still is what was listed.
@Suite struct InboxMovingTests {
  private let files: InboxFolder
  /// 2026-11-21T23:30:00Z, the next day already in much of the world.
  private let date = Date(timeIntervalSince1970: 1_795_303_800)
  init() throws { files = try InboxFolder() }

  private func listed(_ name: String = "log.csv", in inbox: Inbox) throws -> Inbox.File {
    try #require(try inbox.list().ready.first { $0.name == name })
  }

  @Test func `The day's folder is of UTC, and is made as deep as needed`() throws {
    #expect(Inbox.day(of: date) == "2026-11-21")
    #expect(Inbox.day(of: Date(timeIntervalSince1970: 0)) == "1970-01-01")
    try files.write("content\n", to: "log.csv")
    let inbox = files.inbox(InboxDefinition(folder: "in", processed: "a/b/c"))
    let target = files.path("a/b/c/2026-11-21/log.csv")
    #expect(try inbox.move(listed(in: inbox), to: .processed, on: date) == .moved(to: target))
    #expect(try files.folder.text("in/a/b/c/2026-11-21/log.csv") == "content\n")
    #expect(!files.exists("log.csv"))
  }

  @Test(arguments: ["log.csv", "log.csv.gz", "log", "log.2.csv", "2014.07.csv", ".hidden", "a..b"])
  func `The names that a numbered file may have had include its own`(_ name: String) {
    for number in [1, 2, 10] {
      let names = Inbox.originals(of: Inbox.numbered(name, number))
      #expect(names.contains(name) && Set(names).count <= 2, "\(names)")
    }
    #expect(Inbox.originals(of: "log.02.csv") == ["log.02.csv"])
    #expect(Inbox.originals(of: "log.1.csv") == ["log.1.csv"])
  }

  @Test func `A failed file goes to the folder of failed ones`() throws {
    try files.write(to: "log.csv")
    let inbox = files.inbox()
    #expect(
      try inbox.move(listed(in: inbox), to: .failed, on: date) == .moved(to: files.path("failed/2026-11-21/log.csv")))
  }

  @Test func `The file keeps its content, mode and times`() throws {
    try files.write(to: "log.csv", age: 500)
    #expect(chmod(files.path("log.csv"), 0o640) == 0)
    let inbox = files.inbox()
    let file = try listed(in: inbox)
    guard case .moved(let target) = try inbox.move(file, to: .processed, on: date) else {
      Issue.record("not moved")
      return
    }
    let status = try #require(stat.of(target))
    #expect(FileIdentity(status) == file.identity)
    #expect(status.st_mode & 0o777 == 0o640)
  }

  @Test(arguments: [
    ("log.csv", ["log.csv", "log.2.csv", "log.3.csv"]),
    ("log.csv.gz", ["log.csv.gz", "log.2.csv.gz", "log.3.csv.gz"]),
    ("2026.11.csv", ["2026.11.csv", "2026.11.2.csv", "2026.11.3.csv"]),
    ("plain", ["plain", "plain.2", "plain.3"]),
  ])
  func `A name that is taken gets a number, and nothing is written over`(name: String, targets: [String]) throws {
    let inbox = files.inbox(InboxDefinition(folder: "in", pattern: ["*"]))
    for number in 1...3 {
      try files.write("\(number)\n", to: name)
      _ = try inbox.move(listed(name, in: inbox), to: .processed, on: date)
    }
    for (number, target) in zip(1..., targets) {
      #expect(try files.folder.text("in/processed/2026-11-21/\(target)") == "\(number)\n")
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: files.path("processed/2026-11-21"))
    #expect(Set(names) == Set(targets))
  }

  @Test func `A link moves as a link to the same file, which stays`() throws {
    _ = try files.folder.write("content\n", to: "elsewhere.csv")
    #expect(symlink("../elsewhere.csv", files.path("log.csv")) == 0)
    let inbox = files.inbox(settleSeconds: 0)
    _ = try inbox.move(listed(in: inbox), to: .processed, on: date)
    #expect(try files.folder.text("in/processed/2026-11-21/log.csv") == "content\n")
    #expect(try files.folder.text("elsewhere.csv") == "content\n")
    #expect(stat.of(files.path("log.csv"), followingLinks: false) == nil)
    #expect(stat.of(files.path("processed/2026-11-21/log.csv"), followingLinks: false)?.type == S_IFLNK)
  }

  @Test func `A file that is gone is reported, and leaves no name behind`() throws {
    try files.write(to: "log.csv")
    let inbox = files.inbox()
    let file = try listed(in: inbox)
    unlink(file.path)
    #expect(try inbox.move(file, to: .processed, on: date) == .gone)
    #expect(!files.exists("processed"))
  }

  enum Meddling: String, CaseIterable {
    case replaced, grown, touched
  }

  @Test(arguments: Meddling.allCases)
  func `A file that was changed since it was listed stays`(_ meddling: Meddling) throws {
    try files.write("old\n", to: "log.csv")
    let inbox = files.inbox()
    let file = try listed(in: inbox)
    switch meddling {
    case .replaced:
      try files.write("new\n", to: "new")
      #expect(rename(files.path("new"), file.path) == 0)
    case .grown:
      let writer = try #require(FileHandle(forWritingAtPath: file.path))
      try writer.seekToEnd()
      try writer.write(contentsOf: Data("more\n".utf8))
      try writer.close()
      try files.setAge("log.csv", 60)
    case .touched: try files.setAge("log.csv", 5)
    }
    #expect(try inbox.move(file, to: .processed, on: date) == .changed)
    #expect(files.exists("log.csv"))
    #expect(!files.exists("processed/2026-11-21/log.csv"))
  }

  @Test func `Many movers and writers of one name lose no file`() throws {
    let inbox = files.inbox(settleSeconds: 0)
    let files = files
    let date = date
    let total = 200
    // Ends the one when the other can't go on.
    let isBroken = Atomic<Bool>(false)
    DispatchQueue.concurrentPerform(iterations: 2) { role in
      do {
        var done = 0
        while done < total, !isBroken.load(ordering: .relaxed) {
          if role == 0 {
            // Each delivery waits until the name is free, as a careful sender does.
            let path = try files.folder.write("\(done)\n", to: "new")
            if link(path, files.path("log.csv")) == 0 { done += 1 }
            unlink(path)
          } else {
            for file in try inbox.list().ready {
              if case .moved = try inbox.move(file, to: .processed, on: date) { done += 1 }
            }
          }
        }
      } catch {
        isBroken.store(true, ordering: .relaxed)
        Issue.record(error)
      }
    }
    let folder = files.path("processed/2026-11-21")
    let texts = try FileManager.default.contentsOfDirectory(atPath: folder)
      .map { try files.folder.text("in/processed/2026-11-21/\($0)") }
    #expect(Set(texts) == Set((0..<total).map { "\($0)\n" }))
    #expect(texts.count == total)
  }

  // MARK: Another file system

  /// A folder on another file system than the temporary one, where this machine has one.
  static let elsewhere: String? = ["/dev/shm", "/run", "/var/tmp"].first { path in
    guard access(path, W_OK) == 0, let there = stat.of(path) else { return false }
    return there.st_dev != stat.of(FileManager.default.temporaryDirectory.path)?.st_dev
  }

  @Test(.enabled(if: elsewhere != nil, "needs a second file system that can be written to"))
  func `Across file systems a file is copied whole, then removed`() throws {
    let place = try #require(Self.elsewhere) + "/inbox-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: place) }
    let text = String(repeating: "2014-07-14,Rincon\n", count: 200_000)
    try files.write(text, to: "log.csv", age: 500)
    #expect(chmod(files.path("log.csv"), 0o640) == 0)
    let inbox = files.inbox(InboxDefinition(folder: "in", processed: place))
    let file = try listed(in: inbox)
    let target = "\(place)/2026-11-21/log.csv"
    #expect(try inbox.move(file, to: .processed, on: date) == .moved(to: target))
    #expect(try String(contentsOfFile: target, encoding: .utf8) == text)
    #expect(!files.exists("log.csv"))
    let status = try #require(stat.of(target))
    #expect(status.st_mode & 0o777 == 0o640)
    #expect(FileIdentity(status).modifiedNanoseconds == file.identity.modifiedNanoseconds)
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(place)/2026-11-21") == ["log.csv"])
  }

  @Test func `A folder that can't be made is reported, and the file stays`() throws {
    try files.write(to: "log.csv")
    try files.write("a file\n", to: "taken")
    let inbox = files.inbox(InboxDefinition(folder: "in", processed: "taken"))
    do {
      _ = try inbox.move(listed(in: inbox), to: .processed, on: date)
      Issue.record("a file is no folder")
    } catch let error as RunFailure {
      #expect(error.exitCode == .cannotCreate || error.exitCode == .ioError)
      #expect(error.message.contains(files.path("taken")))
    }
    #expect(files.exists("log.csv"))
  }
}
