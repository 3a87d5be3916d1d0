import Foundation
import SystemSupport

/// A process group that ends with this process, also where this process is killed.
///
/// Its leader is a shell that reads a pipe whose other end only this process has. The pipe ends when this process does,
/// and the shell kills its group. A signal at the death of the parent (`PR_SET_PDEATHSIG`) would reach the program alone,
/// and none of the processes that it has started. No other group gets the number before `end()`.
struct GuardedGroup {
  /// The number of the group, and of its leader.
  let number: Int32
  /// This process's end of the pipe.
  private let input: Int32

  /// The leader stays when the group is asked to end.
  private static let script = "trap '' HUP INT QUIT TERM USR1 USR2; read -r line; kill -9 0"

  init() throws(ProgramFailure) {
    (number, input) = try ProgramStart(path: "/bin/sh", words: ["sh", "-c", Self.script], environment: [:]).start()
  }

  func signal(_ signal: Int32) { kill(-number, signal) }

  /// Ends the leader. What is left in the group goes on.
  func end() {
    kill(number, SIGKILL)
    var status: Int32 = 0
    _ = uninterrupted { waitpid(number, &status, 0) }
    close(input)
  }
}
