import Foundation
import TestSupport
import Testing

/// What the program reports is on the disk by then, as the system calls show. Where strace can't be used this is
/// skipped.
@Suite struct DurabilityTests {
  static let canTrace =
    (try? Programs.run("/usr/bin/env", ["strace", "-f", "-e", "trace=fsync", "true"], in: TemporaryFolder()).status)
    == 0

  @Test(.enabled(if: canTrace, "strace is not installed, or may not trace here"))
  func `The WAL and the store are synced before the report has its name, and the report before the input is moved`()
    throws
  {
    let folder = try TemporaryFolder()
    try folder.makeFolder("in")
    try folder.write("date,location\n2020-01-01,A\nnever,B\n", to: "in/a.csv")
    try folder.write(
      """
      {"name": "n", "inbox": {"folder": "in", "settleSeconds": 0}, "store": "s", "report": "r.json",
        "columns": ["date", "location"]}
      """, to: "n.json")
    let calls = ["-f", "-y", "-o", "calls", "-e", "trace=fsync,fdatasync,rename,renameat2"]
    let output = try Programs.run(
      "/usr/bin/env", ["strace"] + calls + [Tool.url.path, "run", "n.json", "-q"], in: folder)
    #expect(output.status == 65)
    let lines = try folder.text("calls").split(separator: "\n").map(String.init)
    func place(_ parts: String...) throws -> Int {
      try #require(lines.firstIndex { line in parts.allSatisfy(line.contains) }, "\(parts) in \(lines)")
    }
    let rejects = try place("rename(", "/a.csv.rejects.csv\"")
    let written = try #require(lines.firstIndex { $0.contains("fdatasync(") && $0.contains("a.csv.rejects.csv.part>") })
    let report = try place("rename(", "/r.json\"")
    let move = try place("renameat2(", "/in/processed/")
    let log = try #require(lines[..<report].lastIndex { $0.contains("fdatasync(") && $0.contains("/s-wal>") })
    let store = try #require(lines[..<report].lastIndex { $0.contains("fdatasync(") && $0.contains("/s>") })
    #expect(written < log && log < store && rejects < report && report < move)
    let first = try #require(lines.firstIndex { $0.contains("fdatasync(") && $0.contains("/s>") })
    #expect(first < rejects)
  }

  @Test func `Files of an inbox are moved with one sync of each folder, and logged when they are on the disk`() throws {
    let stage = try FaultStage(
      RunKind(name: "many files", arguments: ["run", "n.json", "-q", "--log", "moves.log"]) { folder in
        try folder.makeFolder("in")
        for number in 0..<25 { try folder.write(RunKind.records(number..<number + 1), to: "in/\(number).csv") }
        try folder.write("\0\u{1}broken", to: "in/broken.csv")
      })
    let changes = try stage.record().changes
    let moves = changes.indices.filter { index in
      guard case .rename(let from, _) = changes[index] else { return false }
      return from.hasPrefix("in/")
    }
    func syncs(_ isOf: (String) -> Bool) -> [Int] {
      changes.indices.filter { index in
        guard case .sync(let path, _) = changes[index] else { return false }
        return isOf(path)
      }
    }
    let last = try #require(moves.last)
    let (inbox, targets) = (syncs { $0 == "in" }, syncs { $0.contains("/20") })
    #expect(moves.count == 26 && targets.count == 2, "\(moves) \(targets)")
    // Each new folder is synced into the one above it.
    #expect(inbox.count == 3 && inbox.last.map { $0 > last } == true)
    #expect(targets.allSatisfy { $0 > last && $0 < inbox.last ?? 0 })
    #expect(try stage.work.text("moves.log").split(separator: "\n").count { $0.contains("/processed/") } == 25)
    let logged = changes.indices.filter { index in
      guard case .write(_, _, let bytes) = changes[index] else { return false }
      return String(decoding: bytes, as: UTF8.self).contains("/processed/20")
    }
    #expect(logged.contains { $0 > inbox.last ?? 0 })
  }

  @Test(.enabled(if: canTrace, "strace is not installed, or may not trace here"))
  func `An edit by hand is synced before it is reported`() throws {
    let folder = try TemporaryFolder()
    try folder.write(Logs.two, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 0)
    let calls = ["-f", "-y", "-o", "calls", "-e", "trace=fsync,fdatasync,write"]
    let output = try Programs.run(
      "/usr/bin/env", ["strace"] + calls + [Tool.url.path, "edit", "1", "--rating", "5", "--store", "s", "-y"],
      in: folder)
    #expect(output.status == 0)
    let lines = try folder.text("calls").split(separator: "\n")
    let told = try #require(lines.firstIndex { $0.contains("write(1<") })
    let log = try #require(lines[..<told].lastIndex { $0.contains("fdatasync(") && $0.contains("/s-wal>") })
    let store = try #require(lines[..<told].lastIndex { $0.contains("fdatasync(") && $0.contains("/s>") })
    #expect(log < store)
  }
}
