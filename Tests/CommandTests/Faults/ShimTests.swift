import Foundation
import TestSupport
import Testing

/// The shim sees what a program does to its files, whichever library does it. Where strace can't be used this is
/// skipped.
@Suite struct ShimTests {
  static let kinds: [RunKind] = TestLength.isLong ? RunKind.all : [.keyed, .replay, .seed, .parts, .inbox]

  /// Which calls of the system belong to a kind.
  static let names: [(Fault.Call, String)] = [
    (.open, "openat|open"), (.read, "read|pread64"), (.write, "write|pwrite64|writev"), (.sync, "fsync|fdatasync"),
    (.resize, "ftruncate|fallocate"), (.rename, "rename|renameat|renameat2|link|linkat"), (.unlink, "unlink|unlinkat"),
    (.folders, "mkdir|mkdirat|rmdir|unlinkat"), (.mode, "fchmod|fchown|fchmodat|utimensat"),
  ]

  @Test(
    .enabled(if: DurabilityTests.canTrace, "strace is not installed, or may not trace here"), arguments: kinds)
  func `Every call on a file of the folder is counted, SQLite's and Foundation's too`(_ kind: RunKind) throws {
    let folder = try TemporaryFolder()
    let own = try TemporaryFolder()
    for (name, text) in RunKind.definitions { try folder.write(text, to: name) }
    try folder.makeFolder("tmp")
    try kind.prepare(folder)
    var environment = try Shim.environment(.none, in: folder, page: own.path("page"))
    environment["TMPDIR"] = folder.path("tmp")
    let preload = environment.map { "--env=\($0.key)=\($0.value)" }
    let calls = own.path("calls")
    let output = try Programs.run(
      "/usr/bin/env", ["strace", "-f", "-y", "-o", calls] + preload + [Tool.url.path] + kind.arguments, in: folder)
    #expect([0, 65].contains(output.status), "\(output.messages)")
    let report = try Shim.report(own.path("page"))
    let lines = try String(contentsOfFile: calls, encoding: .utf8).split(separator: "\n")
    let path = NSRegularExpression.escapedPattern(for: folder.url.path)
    for (call, names) in Self.names {
      // The file of a descriptor, or a path as it was given, absolute or relative.
      let pattern = try Regex(
        "^\\d+ +(\(names))\\((\\d+<\(path)|(AT_FDCWD<[^>]*>, )?\"\(path)|AT_FDCWD<\(path)>, \"[^/])")
      let traced = lines.count { line in
        let isOfFolder = line.contains("AT_REMOVEDIR") || line.contains(" mkdir")
        // opendir(3) opens within the C library; nothing is changed by it.
        let isList = line.contains("O_NONBLOCK|O_CLOEXEC|O_DIRECTORY")
        return isOfFolder == (call == .folders) && !isList && line.prefixMatch(of: pattern) != nil
      }
      #expect(report.counts[call] == traced, "\(call)")
    }
    let locks = try Regex("^\\d+ +fcntl\\(\\d+<\(path)[^,]*, F_(OFD_)?SETLK")
    #expect(
      report.counts[.lock]
        == lines.count { $0.prefixMatch(of: locks) != nil || $0.contains(" flock(") && $0.contains(folder.url.path) },
      "locks")
  }

  @Test func `A call on a file elsewhere passes`() throws {
    let stage = try FaultStage(.plain)
    let elsewhere = try TemporaryFolder()
    var environment = try Shim.environment(
      Fault(.kill, at: 1), in: elsewhere, page: elsewhere.path("page"))
    environment["TMPDIR"] = stage.work.path("tmp")
    try stage.reset()
    let output = try Programs.run(Tool.url.path, stage.kind.arguments, in: stage.work, environment: environment)
    #expect(output.status == stage.status)
    #expect(try LeftFiles(stage.work).differences(from: stage.once).isEmpty)
  }
}
