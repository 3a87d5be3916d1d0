import Foundation
import TestSupport
import Testing

/// The program with standard input and standard error on a terminal of its own.
enum Terminal {
  /// At the question it runs a shell script, in which $PID is the command, then gives the answer. Prints the exit status,
  /// then what was on the terminal.
  private static let script = """
    import os, pty, subprocess, sys
    answer, script, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(arguments, stdin=theirs, stdout=open("out", "w"), stderr=theirs)
    os.close(theirs)
    seen, asked = b"", False
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
        if not asked and seen.endswith(b"[y/N] "):
            asked = True
            subprocess.run(["sh", "-c", script], check=True, env=dict(os.environ, PID=str(process.pid)))
            os.write(ours, answer.encode().decode("unicode_escape").encode())
    print(process.wait())
    sys.stdout.write(seen.decode().replace("\\r\\n", "\\n"))
    """

  /// Runs a command that asks nothing.
  static func run(_ arguments: String..., in folder: TemporaryFolder) throws -> String {
    try ask("", arguments, in: folder).seen
  }

  /// - Returns: The exit status, and what was on the terminal. Standard output is in the file `out`.
  static func ask(
    _ answer: String, _ arguments: [String], meanwhile script: String = ":", in folder: TemporaryFolder
  ) throws -> (status: Int, seen: String) {
    let all = [answer, script, Tool.url.path] + arguments
    let output = try Programs.run("/usr/bin/env", ["python3", "-c", Self.script] + all, in: folder)
    try #require(output.status == 0, "\(output.messages)")
    let lines = output.text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    return (try #require(Int(lines[0])), String(lines[1]))
  }
}
