import Foundation
import TestSupport
import Testing

/// Standard output whose reader does not read: the first signal ends the command.
@Suite struct UnreadOutputTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try Logs.write(records: 20_000, to: "big.csv", in: folder)
  }

  /// Runs a command with a pipe or socket that is not read, sends SIGTERM once the pipe is full, and prints the status as
  /// a shell does; `none` if it has not ended ten seconds later.
  private static let script = """
    import array, fcntl, os, signal, socket, subprocess, sys, termios, time
    kind, arguments = sys.argv[1], sys.argv[2:]
    ours, theirs = [end.detach() for end in socket.socketpair()] if kind == "socket" else os.pipe()
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=theirs, stderr=open("messages", "w"))
    os.close(theirs)
    def unread():
        count = array.array("i", [0])
        fcntl.ioctl(ours, termios.FIONREAD, count)
        return count[0]
    former, since = 0, time.monotonic()
    while process.poll() is None and (former == 0 or time.monotonic() - since < 0.7):
        if unread() != former: former, since = unread(), time.monotonic()
        time.sleep(0.02)
    if process.poll() is None: process.send_signal(signal.SIGTERM)
    try:
        status = process.wait(10)
        print(128 - status if status < 0 else status)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        print("none")
    """

  private func status(_ command: String, _ kind: String = "pipe") throws -> String {
    let words = command.split(separator: " ").map(String.init)
    let all = ["python3", "-c", Self.script, kind, Tool.url.path] + words
    return try Programs.output(of: all, in: folder).trimmingCharacters(in: .newlines)
  }

  @Test(arguments: ["", "--gzip", "--format jsonl"], ["pipe", "socket"])
  func `An export is cancelled by one signal, and says why`(_ options: String, _ kind: String) throws {
    #expect(try Tool.run("import", "big.csv", "--store", "s", "-q", in: folder).status == 0)
    #expect(try status("export --store s --report r.json -o - -q \(options)", kind) == "75")
    let summary = try folder.text("r.json")
    #expect(summary.contains("cancelled") && summary.contains("its reader does not read on"), "\(summary)")
    #expect(try folder.names.filter { $0.hasPrefix("s-") } == [])
  }

  @Test(arguments: [
    "import bad.csv --store s --json", "validate bad.csv --json", "list s --limit 5000",
    "diff big.csv --store t",
  ])
  func `A command that has done its work is ended by one signal`(_ command: String) throws {
    let lines = (0..<3000).map { "soon,,,,Place \($0),\($0 + 10)\n" }.joined()
    try folder.write(Logs.header + lines, to: "bad.csv")
    let store = command.hasPrefix("list") ? "s" : "t"
    let first = command.hasPrefix("list") ? "big.csv" : "two.csv"
    try folder.write(Logs.two, to: "two.csv")
    #expect(try Tool.run("import", first, "--store", store, "-q", in: folder).status == 0)
    #expect(try status(command) == "\(128 + SIGTERM)")
  }

  @Test(arguments: ["pipe", "socket"]) func `A reader that is slow gets all of an export`(_ kind: String) throws {
    #expect(try Tool.run("import", "big.csv", "--store", "s", "-q", in: folder).status == 0)
    let script = """
      import hashlib, os, socket, subprocess, sys, time
      ours, theirs = [end.detach() for end in socket.socketpair()] if sys.argv[1] == "socket" else os.pipe()
      process = subprocess.Popen([sys.argv[2], "export", "--store", "s", "-o", "-", "-q"], stdout=theirs)
      os.close(theirs)
      content = b""
      while piece := os.read(ours, 50_001):
          content += piece
          time.sleep(0.01)
      assert process.wait() == 0
      assert content == open("out.csv", "rb").read()
      """
    #expect(try Tool.run("export", "--store", "s", "-o", "out.csv", "-q", in: folder).status == 0)
    try Programs.output(of: ["python3", "-c", script, kind, Tool.url.path], in: folder)
  }
}
