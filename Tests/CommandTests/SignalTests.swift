import Foundation
import TestSupport
import Testing

/// Signals reach the program for as long as it runs.
@Suite struct SignalTests {
  /// On Linux, Dispatch takes a signal by a handler that it installs once. A program that ignores the signal afterwards
  /// can't be stopped by it any more, and whether that happens depends on which of the two threads is first.
  @Test(
    .enabled(if: DurabilityTests.canTrace, "strace is not installed, or may not trace here"),
    arguments: [["import", "log.csv", "--store", "s", "-q"], ["validate", "log.csv", "-q"], ["list", "s"]])
  func `The program never ignores a signal that ends or cancels its work`(_ arguments: [String]) throws {
    let folder = try TemporaryFolder()
    try folder.write(Logs.two, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", "-q", in: folder).status == 0)
    let calls = ["-f", "-o", "calls", "-e", "trace=rt_sigaction"]
    let output = try Programs.run("/usr/bin/env", ["strace"] + calls + [Tool.url.path] + arguments, in: folder)
    #expect(output.status == 0, "\(output.messages)")
    let lines = try folder.text("calls").split(separator: "\n")
    func ignored(_ name: String) -> Bool { lines.contains { $0.contains("(\(name), {sa_handler=SIG_IGN") } }
    // What the program does ignore is seen.
    #expect(ignored("SIGPIPE"))
    for name in ["SIGINT", "SIGTERM", "SIGHUP"] { #expect(!ignored(name), "\(name) is ignored") }
  }
}
