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
