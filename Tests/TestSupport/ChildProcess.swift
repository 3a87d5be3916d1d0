import CSpawn
import Foundation

/// Where a child process reads from or writes to.
package protocol ProcessStream {
  /// The descriptor that becomes the child's.
  var childInput: FileHandle { get }
  var childOutput: FileHandle { get }
  /// Whether the child's end is closed here when the child has it: a reader waits for the end of all writers.
  var isForChildOnly: Bool { get }
}

extension FileHandle: ProcessStream {
  package var childInput: FileHandle { self }
  package var childOutput: FileHandle { self }
  package var isForChildOnly: Bool { false }
}

extension Pipe: ProcessStream {
  package var childInput: FileHandle { fileHandleForReading }
  package var childOutput: FileHandle { fileHandleForWriting }
  package var isForChildOnly: Bool { true }
}

/// A program that runs as a child of the tests, in a process group of its own. Foundation's `Process` looks every 50 ms
/// whether a program has ended, which is longer than most of them run; this one waits in the system.
package final class ChildProcess {
  private let program: String
  private let arguments: [String]
  private let environment: [String: String]
  private let folder: String
  package var standardInput: any ProcessStream = FileHandle.standardInput
  package var standardOutput: any ProcessStream = FileHandle.standardOutput
  package var standardError: any ProcessStream = FileHandle.standardError
  /// 0 before the start.
  package private(set) var processIdentifier: Int32 = 0
  private let end = End()

  /// - Parameters:
  ///   - program: Its path.
  ///   - folder: Where it starts; nil for the folder of the tests.
  ///   - environment: All its variables.
  init(_ program: String, arguments: [String], folder: String?, environment: [String: String]) {
    self.program = program
    self.arguments = arguments
    self.folder = folder ?? ""
    self.environment = environment
  }

  package func start() throws {
    let (input, output, messages) = (standardInput.childInput, standardOutput.childOutput, standardError.childOutput)
    let words = [program] + arguments
    let variables = environment.map { "\($0)=\($1)" }
    processIdentifier = spawn_program(
      program, Self.list(words), Int32(words.count), Self.list(variables), Int32(variables.count), folder,
      input.fileDescriptor, output.fileDescriptor, messages.fileDescriptor, 0)
    if standardInput.isForChildOnly { try input.close() }
    for stream in [standardOutput, standardError] where stream.isForChildOnly { try? stream.childOutput.close() }
    guard processIdentifier > 0 else {
      end.set(-1)
      throw ProgramFailure(description: "\(program) can't be started: \(String(cString: strerror(-processIdentifier)))")
    }
    // At once, whether the test waits for it or not: Swift Testing asks for any child that has ended, and would get this
    // one again and again instead of its own.
    Thread { [processIdentifier, end] in
      var found: Int32 = 0
      while waitpid(processIdentifier, &found, 0) < 0, errno == EINTR {}
      // As wait(2) has them: the signal, or the exit status above it.
      let signal = found & 0x7F
      end.set(signal == 0 ? found >> 8 & 0xFF : 128 + signal)
    }.start()
  }

  /// Texts one after the other, each with a zero byte.
  private static func list(_ texts: [String]) -> String { texts.map { $0 + "\0" }.joined() }

  // MARK: Its end

  package var isRunning: Bool { processIdentifier > 0 && end.status == nil }

  /// The exit status; 128 plus the number of the signal that ended it, as in a shell. Waits for its end.
  package var terminationStatus: Int32 { end.wait() }

  package func waitUntilExit() { _ = end.wait() }

  /// Waits until it stands still, as after SIGSTOP, or has ended.
  ///
  /// - Returns: Whether it stands still.
  package func waitUntilStopped() -> Bool {
    var change = siginfo_t()
    while isRunning, waitid(P_PID, id_t(processIdentifier), &change, WEXITED | WSTOPPED | WNOWAIT) != 0, errno == EINTR
    {}
    // It stands still for as long as nothing continues it, and one that has ended is about to have a status.
    if change.si_code == CLD_STOPPED { return true }
    waitUntilExit()
    return false
  }

  /// Asks it to end.
  package func terminate() { signal(SIGTERM) }

  /// Sends a signal, unless it has ended.
  package func signal(_ number: Int32) {
    if isRunning { kill(processIdentifier, number) }
  }
}

/// How a process has ended, for the thread that waits for it and those that ask.
// Unchecked: the status is read and written only under the condition's mutex.
private final class End: @unchecked Sendable {
  private let condition = NSCondition()
  private var known: Int32?

  /// Nil while it runs.
  var status: Int32? { condition.withLock { known } }

  func set(_ status: Int32) {
    condition.withLock {
      known = status
      condition.broadcast()
    }
  }

  func wait() -> Int32 {
    condition.withLock {
      while true {
        if let known { return known }
        condition.wait()
      }
    }
  }
}
