import Foundation
import TestSupport
import Testing

/// Standard output whose reader does not read: the first signal ends the command.
@Suite(.seeded) struct UnreadOutputTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try Logs.write(records: 20_000, to: "big.csv", in: folder)
  }

  /// When the signal comes.
  enum Moment: String { case firstBytes, full }

  /// Runs a command with a pipe or socket that is not read, sends SIGTERM at a moment, and prints the status as a shell
  /// does; `none` if it has not ended ten seconds later. This process keeps the writing end open: select(2) says of it
  /// what it says to the command, so a busy machine can't make a buffer that is still being filled look full.
  private static let script = """
    import array, fcntl, os, select, signal, socket, subprocess, sys, termios, time
    kind, moment, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
    ours, theirs = [end.detach() for end in socket.socketpair()] if kind == "socket" else os.pipe()
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=theirs, stderr=open("messages", "w"))
    def has_bytes():
        count = array.array("i", [0])
        fcntl.ioctl(ours, termios.FIONREAD, count)
        return count[0] > 0
    def is_full(): return not select.select([], [theirs], [], 0)[1]
    while process.poll() is None and not (has_bytes() if moment == "firstBytes" else is_full()): time.sleep(0.001)
    if moment == "full": time.sleep(0.2)
    if process.poll() is None: process.send_signal(signal.SIGTERM)
    try:
        status = process.wait(10)
        print(128 - status if status < 0 else status)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        print("none")
    """

  private func status(_ command: String, _ kind: String = "pipe", at moment: Moment = .full) throws -> String {
    let words = command.split(separator: " ").map(String.init)
    let all = ["python3", "-c", Self.script, kind, moment.rawValue, Tool.url.path] + words
    return try Programs.output(of: all, in: folder).trimmingCharacters(in: .newlines)
  }

  /// The records are one batch of the export, which even compressed is larger than any buffer on the way: a signal that
  /// comes while it is written can't be noticed anywhere but in the wait for the reader.
  private func exportIsCancelled(_ options: String, _ kind: String, at moment: Moment) throws {
    try Programs.python(
      """
      import random
      random.seed(\(Randomness.seed))
      letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      with open("long.csv", "w") as log:
          log.write("date,location\\n")
          for n in range(4900): log.write("2014-07-14," + "".join(random.choices(letters, k=1000)) + "\\n")
      """, in: folder)
    #expect(try Tool.run("import", "long.csv", "--store", "s", "-q", in: folder).status == 0)
    #expect(try status("export --store s --report r.json -o - -q \(options)", kind, at: moment) == "75")
    let summary = try folder.text("r.json")
    #expect(summary.contains("cancelled") && summary.contains("its reader does not read on"), "\(summary)")
    #expect(try folder.names.filter { $0.hasPrefix("s-") } == [])
  }

  @Test(arguments: ["", "--gzip", "--format jsonl"], ["pipe", "socket"])
  func `An export is cancelled by one signal, and says why`(_ options: String, _ kind: String) throws {
    try exportIsCancelled(options, kind, at: .full)
  }

  @Test(arguments: ["", "--gzip"])
  func `An export that has yet to fill the buffer of its reader says the same`(_ options: String) throws {
    try exportIsCancelled(options, "pipe", at: .firstBytes)
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
