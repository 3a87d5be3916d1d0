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
  private let lock = NSLock()
  private var status: Int32?

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
      input.fileDescriptor, output.fileDescriptor, messages.fileDescriptor)
    if standardInput.isForChildOnly { try input.close() }
    for stream in [standardOutput, standardError] where stream.isForChildOnly { try? stream.childOutput.close() }
    guard processIdentifier > 0 else {
      throw ProgramFailure(description: "\(program) can't be started: \(String(cString: strerror(-processIdentifier)))")
    }
  }

  /// Texts one after the other, each with a zero byte.
  private static func list(_ texts: [String]) -> String { texts.map { $0 + "\0" }.joined() }

  // MARK: Its end

  package var isRunning: Bool { processIdentifier > 0 && end(WNOHANG) == nil }

  /// The exit status; 128 plus the number of the signal that ended it, as in a shell.
  package var terminationStatus: Int32 {
    waitUntilExit()
    return lock.withLock { status ?? -1 }
  }

  package func waitUntilExit() {
    // Its status is left for `end`, so that its number is not given to another process before that is known here.
    wait(for: WEXITED)
    _ = end(0)
  }

  /// Waits until it stands still, as after SIGSTOP, or has ended.
  ///
  /// - Returns: Whether it stands still.
  package func waitUntilStopped() -> Bool {
    wait(for: WEXITED | WSTOPPED)
    return isRunning
  }

  /// Asks it to end.
  package func terminate() { signal(SIGTERM) }

  /// Sends a signal, unless it has ended.
  package func signal(_ number: Int32) {
    if isRunning { kill(processIdentifier, number) }
  }

  private func wait(for changes: Int32) {
    var change = siginfo_t()
    while lock.withLock({ status == nil }), waitid(P_PID, id_t(processIdentifier), &change, changes | WNOWAIT) != 0,
      errno == EINTR
    {}
  }

  private func end(_ options: Int32) -> Int32? {
    lock.withLock {
      if status != nil { return status }
      var found: Int32 = 0
      if waitpid(processIdentifier, &found, options) != processIdentifier { return nil }
      // As wait(2) has them: the signal, or the exit status above it.
      let signal = found & 0x7F
      status = signal == 0 ? found >> 8 & 0xFF : 128 + signal
      return status
    }
  }
}
