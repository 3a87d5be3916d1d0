import Foundation
import Glibc
import TestSupport
import Testing

/// Files that are not complete yet, or that a killed process has left: another process removes the latter only.
@Suite struct UnfinishedOutputTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.write(RunKind.records(0..<60, badEvery: nil), to: "log.csv")
    try RunKind.tool(["import", "log.csv", "--store", "s", "-q"], in: folder)
  }

  /// An export that stands still where it creates the last of three files: two are finished.
  private func stoppedExport() throws -> ChildProcess {
    let own = try TemporaryFolder()
    var fault = Fault(.stop, calls: [.write], at: 1)
    fault.nameEnd = ".partial"
    fault.number = 3
    let process = Programs.process(
      Tool.url.path, Self.export, in: folder,
      environment: try Shim.environment(fault, in: folder, page: own.path("page")))
    process.standardError = FileHandle.nullDevice
    try process.start()
    try #require(process.waitUntilStopped())
    return process
  }

  private static let export = ["export", "--store", "s", "-o", "out.csv", "--split-rows", "25", "-q"]

  private var unfinished: [String] { get throws { try folder.names.filter { $0.hasSuffix(".partial") } } }

  @Test func `Finished files of an export that goes on stay while others write to their folder`() throws {
    let process = try stoppedExport()
    defer { process.signal(SIGKILL) }
    let before = try unfinished
    #expect(before.count == 3)
    try RunKind.tool(Self.export, in: folder)
    try RunKind.tool(["export", "--store", "s", "-o", "out-00001.csv", "-q"], in: folder)
    #expect(try unfinished == before)
    process.signal(SIGCONT)
    #expect(process.terminationStatus == 0)
    #expect(try unfinished == [])
    let parts = try (1...3).map { try folder.text("out-0000\($0).csv").split(separator: "\n").count - 1 }
    #expect(parts == [25, 25, 10])
  }

  @Test func `Those of one that was killed are removed by the next, although it writes fewer files`() throws {
    let process = try stoppedExport()
    process.signal(SIGKILL)
    process.waitUntilExit()
    #expect(try unfinished.count == 3)
    try RunKind.tool(
      ["export", "--store", "s", "-o", "out.csv", "--split-rows", "25", "--where", "rating >= 5", "-q"], in: folder)
    #expect(try unfinished == [])
  }

  @Test func `Names with the time of a run are known again by the next run`() throws {
    let left = [
      ".out-2014-07-14-073000.csv.3tbr81isg7is8.partial", ".out-2014-07-14-073000.csv.xxh128.3tbr81isg7is8.partial",
    ]
    let others = [".out-weekly.csv.3tbr81isg7is8.partial", ".out-2014-07-14.csv.partial"]
    for name in left + others { try folder.write("", to: name) }
    try RunKind.tool(["export", "--store", "s", "-o", "out-{date}-{time}.csv", "--hash", "-q"], in: folder)
    #expect(try unfinished == others.sorted())
  }

  @Test(arguments: ["", "out/"]) func `An output without a file name is refused`(_ output: String) throws {
    let parts = ["export", "--store", "s", "-o", output, "--split-rows", "25", "-q"]
    let refused = try Programs.run(Tool.url.path, parts, in: folder)
    #expect(refused.status == 64 && refused.messages.contains("write one, such as \(output)log.csv"), "\(refused)")
    #expect(try folder.names == ["log.csv", "s"])
  }

  @Test func `A report of a series that was not completed is removed by the next run`() throws {
    try folder.write("", to: ".r-2014-07-14.json.3tbr81isg7is8.partial")
    try folder.write("", to: ".r-weekly.json.3tbr81isg7is8.partial")
    try RunKind.tool(["import", "log.csv", "--store", "s", "--report", "r-{date}.json", "-q"], in: folder)
    #expect(try unfinished == [".r-weekly.json.3tbr81isg7is8.partial"])
  }

  /// It has given its input another name, and not yet put the rest in its place.
  @Test func `A replay that is in progress is not taken for an interrupted one`() throws {
    try folder.write(RunKind.records(0..<60, badEvery: 5), to: "bad.csv")
    try RunKind.tool(["import", "bad.csv", "--store", "t", "-q"], in: folder, status: 65)
    let replay = ["replay", "bad.csv.rejects.csv", "-q"]
    let own = try TemporaryFolder()
    let process = Programs.process(
      Tool.url.path, replay, in: folder,
      environment: try Shim.environment(
        Fault(.stop, calls: [.rename], at: 2), in: folder, page: own.path("page")))
    process.standardError = FileHandle.nullDevice
    try process.start()
    try #require(process.waitUntilStopped())
    defer { process.signal(SIGKILL) }
    let other = try Programs.run(Tool.url.path, replay, in: folder)
    #expect(other.status == 75 && other.messages.contains("is in use by pid \(process.processIdentifier)"), "\(other)")
    process.signal(SIGCONT)
    #expect(process.terminationStatus == 65)
    #expect(try folder.text("bad.csv.rejects.csv").split(separator: "\n").count == 13)
  }

  @Test func `A replay that is done is not taken for an interrupted one where its store is in use`() throws {
    try folder.write(RunKind.records(0..<60, badEvery: 60), to: "bad.csv")
    try RunKind.tool(["import", "bad.csv", "--store", "t", "-q"], in: folder, status: 65)
    try folder.write(RunKind.records(300..<301, badEvery: nil), to: "bad.csv.rejects.csv")
    try RunKind.tool(["replay", "bad.csv.rejects.csv", "-q"], in: folder)
    let own = try TemporaryFolder()
    let process = Programs.process(
      Tool.url.path, ["import", "log.csv", "--store", "t", "-q"], in: folder,
      environment: try Shim.environment(Fault(.stop, calls: [.sync], at: 1), in: folder, page: own.path("page")))
    process.standardError = FileHandle.nullDevice
    try process.start()
    try #require(process.waitUntilStopped())
    defer { process.signal(SIGKILL) }
    let again = try Programs.run(Tool.url.path, ["replay", "bad.csv.rejects.csv", "-q"], in: folder)
    #expect(again.status == 66 && again.messages.contains("it was replayed"), "\(again)")
  }

  /// The file is found by a process that looks for leftovers, which has its lock for a moment.
  @Test func `An output whose file was locked by another process while it was made leaves one file`() throws {
    let own = try TemporaryFolder()
    var fault = Fault(.stop, calls: [.lock], at: 1)
    fault.nameEnd = ".partial"
    let process = Programs.process(
      Tool.url.path, ["export", "--store", "s", "-o", "out.csv", "-q"], in: folder,
      environment: try Shim.environment(fault, in: folder, page: own.path("page")))
    process.standardError = FileHandle.nullDevice
    try process.start()
    try #require(process.waitUntilStopped())
    defer { process.signal(SIGKILL) }
    let name = try #require(try unfinished.first)
    let descriptor = open(folder.path(name), O_WRONLY | O_CLOEXEC)
    defer { close(descriptor) }
    try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    process.signal(SIGCONT)
    #expect(process.terminationStatus == 0)
    #expect(try unfinished == [])
  }
}
