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

  /// Where FIFOs are given that have no other end, and the status of a run that a signal ends while it waits for one.
  static let waiting = [
    ("import log.csv --store t --log pipe", 75), ("import log.csv --store t --report pipe.json", 75),
    ("export --store s -o out.csv --log pipe", 75), ("export --store s -o out.csv --report pipe.json", 75),
    ("validate log.csv --report pipe.json", 75), ("diff log.csv --store s --report pipe.txt", 75),
    ("import pipe --store t", 75), ("diff log.csv pipe", 75), ("guess pipe", 128 + SIGTERM),
    ("split pipe --rows 1 --to parts", 75),
  ]

  @Test(arguments: waiting)
  func `The first signal ends a command that waits for the other end of a FIFO`(_ command: String, _ status: Int32)
    throws
  {
    let folder = try TemporaryFolder()
    try folder.write(Logs.two, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", "-q", in: folder).status == 0)
    let output = try Tool.shell(
      """
      mkfifo pipe pipe.json pipe.txt
      "$surfjournal" \(command) & command=$!
      sleep 2; kill -TERM $command || exit 99
      for n in $(seq 200); do kill -0 $command 2>/dev/null || break; sleep 0.1; done
      kill -0 $command 2>/dev/null && echo still running && kill -9 $command
      wait $command
      """, in: folder)
    #expect(output.status == status, "\(output.status) \(output.messages)")
    #expect(!output.text.contains("still running"))
  }

  @Test func `A log and a report in FIFOs are complete where something reads them`() throws {
    let folder = try TemporaryFolder()
    try folder.write(Logs.two, to: "log.csv")
    let output = try Tool.shell(
      """
      mkfifo log.pipe report.json
      (sleep 1; cat log.pipe > log.txt) & (sleep 1; cat report.json > report.txt) &
      "$surfjournal" import log.csv --store s --log log.pipe --report report.json -q || exit $?
      wait
      """, in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try folder.text("log.txt").split(separator: "\n").last?.contains("exit status 0") == true)
    #expect(try folder.text("report.txt").hasSuffix("}\n"))
  }

  @Test func `A first file that can be read only once is refused without a wait for its other end`() throws {
    let folder = try TemporaryFolder()
    try folder.write(Logs.two, to: "log.csv")
    let output = try Tool.shell("mkfifo pipe; timeout 20 $surfjournal diff pipe log.csv", in: folder)
    #expect(output.status == 66 && output.messages.contains("pipe is a pipe"), "\(output.status) \(output.messages)")
  }
}
