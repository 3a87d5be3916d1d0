import Foundation
import SystemSupport
import Synchronization
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// One run at a time per store; the second learns who has it; a dead holder's lock is free.
@Suite struct RunLockTests {
  private let folder: TemporaryFolder
  private let now = Date(timeIntervalSinceReferenceDate: 0)
  init() throws { folder = try TemporaryFolder() }

  private func lock(_ store: String = "s.sqlite", pipeline: String = "surf-log") throws -> RunLock {
    try RunLock(storePath: folder.path(store), pipeline: pipeline, now: now)
  }

  private func failure(_ work: () throws -> RunLock) -> RunFailure? {
    do {
      _ = try work()
      return nil
    } catch {
      return error as? RunFailure
    }
  }

  private var names: [String] { get throws { try folder.names } }

  // MARK: Within one process

  @Test func `The second of two locks is refused with 75 and the holder's name`() throws {
    let first = try lock()
    let refusal = try #require(failure { try lock(pipeline: "other") })
    #expect(refusal.exitCode == .temporaryFailure)
    #expect(
      refusal.message
        == "\(folder.path("s.sqlite")) is in use by pid \(getpid()) (pipeline surf-log, since 2001-01-01T00:00:00Z); "
        + "try again later")
    first.release()
  }

  @Test func `The file tells pid, host, pipeline and time as a line of JSON, and goes with the lock`() throws {
    let held = try lock()
    let text = try folder.text("s.sqlite.lock")
    let host = try python("import socket; print(socket.gethostname())").trimmingCharacters(in: .newlines)
    #expect(
      text
        == #"{"host":"\#(host)","pid":\#(getpid()),"pipeline":"surf-log","since":"2001-01-01T00:00:00Z"}"# + "\n")
    held.release()
    held.release()
    #expect(try names == [])
    _ = try lock()
  }

  @Test func `A lock that is let go is released`() throws {
    do { _ = try lock() }
    #expect(try names == [])
    try lock().release()
  }

  @Test func `Two stores of one folder have locks of their own`() throws {
    let (first, second) = (try lock("a"), try lock("b"))
    #expect(try names == ["a.lock", "b.lock"])
    first.release()
    second.release()
  }

  @Test func `A store has one lock by whatever links a path leads to it`() throws {
    let store = try folder.write("", to: "real.sqlite")
    try FileManager.default.createSymbolicLink(atPath: folder.path("link.sqlite"), withDestinationPath: store)
    let first = try lock("link.sqlite")
    #expect(failure { try lock("real.sqlite") }?.exitCode == .temporaryFailure)
    first.release()
  }

  @Test func `Folders made for a lock go with it, unless something was put there`() throws {
    let held = try lock("new/deep/s.sqlite")
    held.release()
    #expect(try names == [])
    let second = try lock("new/deep/s.sqlite")
    _ = try folder.write("", to: "new/kept")
    second.release()
    #expect(FileManager.default.fileExists(atPath: folder.path("new/kept")))
    #expect(!FileManager.default.fileExists(atPath: folder.path("new/deep")))
  }

  @Test func `However many threads take and release it, one at a time has it and the file never outlives them`() throws
  {
    let holders = Atomic<Int>(0)
    let taken = Atomic<Int>(0)
    let clashes = Atomic<Int>(0)
    let others = Locked<[String]>([])
    let path = folder.path("s.sqlite")
    DispatchQueue.concurrentPerform(iterations: 16) { _ in
      for _ in 0..<200 {
        do throws(RunFailure) {
          let held = try RunLock(storePath: path, pipeline: "p", now: Date())
          if holders.add(1, ordering: .sequentiallyConsistent).oldValue != 0 {
            clashes.add(1, ordering: .sequentiallyConsistent)
          }
          taken.add(1, ordering: .sequentiallyConsistent)
          sched_yield()
          holders.subtract(1, ordering: .sequentiallyConsistent)
          held.release()
        } catch {
          if error.exitCode != .temporaryFailure { others.withLock { $0.append(error.message) } }
        }
      }
    }
    #expect(clashes.load(ordering: .sequentiallyConsistent) == 0)
    #expect(taken.load(ordering: .sequentiallyConsistent) > 16)
    #expect(others.withLock { $0 } == [])
    #expect(try names == [])
  }

  // MARK: Other processes

  /// Starts a process that locks the file, and returns when it has locked it.
  private func holder(_ line: String) throws -> RunningProgram {
    let script = """
      import fcntl, sys, time
      file = open(sys.argv[1], "w")
      fcntl.flock(file, fcntl.LOCK_EX)
      file.write(sys.argv[2]); file.flush()
      print("locked", flush=True)
      time.sleep(60)
      """
    let program = try RunningProgram(script, folder.path("s.sqlite.lock"), line)
    #expect(program.greeting == "locked\n")
    return program
  }

  @Test func `Another process's lock is respected, and free once it is killed, its file notwithstanding`() throws {
    let line = #"{"pid": 1, "host": "elsewhere", "pipeline": "club", "since": "2026-11-21T06:00:00Z"}"#
    let program = try holder(line)
    let refusal = try #require(failure { try lock() })
    #expect(refusal.exitCode == .temporaryFailure)
    #expect(refusal.message.contains("in use by pid 1 on elsewhere (pipeline club, since 2026-11-21T06:00:00Z)"))
    program.stop()
    #expect(try folder.text("s.sqlite.lock") == line)
    try lock().release()
    #expect(try names == [])
  }

  @Test func `A holder without a name is identified by the file that it locks`() throws {
    let program = try holder("")
    let refusal = try #require(withExtendedLifetime(program) { failure { try lock() } })
    #expect(refusal.exitCode == .temporaryFailure)
    #expect(refusal.message.contains("in use by another process, which locks \(folder.path("s.sqlite.lock"))"))
  }

  @Test func `Another program sees the lock, and no child process inherits it`() throws {
    let held = try lock()
    let script = """
      import fcntl
      try:
          fcntl.flock(open("\(folder.path("s.sqlite.lock"))"), fcntl.LOCK_EX | fcntl.LOCK_NB); print("free")
      except BlockingIOError:
          print("locked")
      """
    #expect(try python(script) == "locked\n")
    let child = try RunningProgram("import time; print('running', flush=True); time.sleep(60)")
    held.release()
    try withExtendedLifetime(child) { try lock().release() }
  }

  // MARK: What can't be locked

  @Test func `A file that is not a lock is neither written over nor removed`() throws {
    _ = try folder.write("somebody's notes", to: "s.sqlite.lock")
    let refusal = try #require(failure { try lock() })
    #expect(refusal.exitCode == .cannotCreate)
    #expect(refusal.message.contains("is something else; move it away"))
    #expect(try folder.text("s.sqlite.lock") == "somebody's notes")
  }

  @Test func `A link in the lock's place is not followed`() throws {
    let target = try folder.write("notes", to: "notes")
    try FileManager.default.createSymbolicLink(atPath: folder.path("s.sqlite.lock"), withDestinationPath: target)
    let refusal = try #require(failure { try lock() })
    #expect(refusal.exitCode == .cannotCreate)
    #expect(refusal.message.contains("symbolic link"))
    #expect(try folder.text("notes") == "notes")
  }

  @Test(arguments: ["folder", "fifo"])
  func `What is not a regular file is not a lock`(_ kind: String) throws {
    let path = folder.path("s.sqlite.lock")
    #expect((kind == "folder" ? mkdir(path, 0o755) : mkfifo(path, 0o644)) == 0)
    let refusal = try #require(failure { try lock() })
    #expect(refusal.exitCode == .cannotCreate)
    #expect(refusal.message.contains(path))
  }

  @Test func `A folder where nothing can be made is a clear error`() throws {
    // A place that takes no new files, for any user.
    let refusal = try #require(failure { try RunLock(storePath: "/proc/s.sqlite", pipeline: "p", now: now) })
    #expect([.cannotCreate, .noPermission].contains(refusal.exitCode))
    #expect(refusal.message.hasPrefix("/proc/s.sqlite.lock can't be made to lock the store: "))
  }
}
