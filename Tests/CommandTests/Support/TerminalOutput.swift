import Foundation
import TestSupport
import Testing

/// The program with standard output on a terminal of a given size.
enum TerminalOutput {
  private static let script = """
    import fcntl, os, pty, struct, subprocess, sys, termios
    columns, lines, arguments = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=theirs, stderr=open("err", "w"))
    os.close(theirs)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    print(process.wait())
    sys.stdout.write(seen.decode().replace("\\r\\n", "\\n"))
    """

  /// - Returns: The exit status, and what was on the terminal. Standard error is in the file `err`.
  static func run(
    _ arguments: String..., columns: Int = 80, lines: Int = 24, environment: [String: String] = [:],
    in folder: TemporaryFolder
  ) throws -> (status: Int, seen: String) {
    let all = ["python3", "-c", script, "\(columns)", "\(lines)", Tool.url.path] + arguments
    // Whatever the caller's environment has.
    let usual = ["NO_COLOR": "", "TERM": "xterm", "PAGER": "", "LC_ALL": "C.UTF-8"]
    let output = try Programs.run(
      "/usr/bin/env", all, in: folder, environment: usual.merging(environment) { _, given in given })
    try #require(output.status == 0, "\(output.messages)")
    let parts = output.text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    return (try #require(Int(parts[0])), String(parts[1]))
  }
}
