import CSpawn
import Foundation

/// Why a program could not be started, or how it failed.
struct ProgramFailure: Error, Sendable {
  let message: String

  init(_ message: String) { self.message = message }
}

/// A program to start, whose standard input is a pipe.
struct ProgramStart {
  let path: String
  /// The program's name and its arguments.
  let words: [String]
  let environment: [String: String]
  var folder: URL?
  /// Descriptors for what it prints and says; nil where that is of no interest.
  var output: Int32?
  var messages: Int32?
  /// Its process group; 0 for one of its own, which it leads.
  var group: Int32 = 0

  /// Starts it.
  ///
  /// - Returns: The process, and the end of the pipe that is written to.
  func start() throws(ProgramFailure) -> (process: Int32, input: Int32) {
    let pipe = try ProgramPipe()
    defer { close(pipe.reading) }
    let variables = environment.map { "\($0)=\($1)" }
    let process = spawn_program(
      path, Self.list(words), Int32(words.count), Self.list(variables), Int32(variables.count), folder?.path ?? "",
      pipe.reading, output ?? -1, messages ?? -1, group)
    if process > 0 { return (process, pipe.writing) }
    close(pipe.writing)
    throw ProgramFailure("\(path) can't be started: \(String(cString: strerror(-process)))")
  }

  /// Texts one after the other, each with a zero byte.
  private static func list(_ texts: [String]) -> String {
    texts.map { $0.replacingOccurrences(of: "\0", with: "") + "\0" }.joined()
  }
}

/// The ends of a pipe. A program that is started gets neither unless it is given one: its input would not end while it has
/// the end that is written to.
struct ProgramPipe {
  let reading: Int32
  let writing: Int32

  init() throws(ProgramFailure) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw ProgramFailure("no program can be started: \(String(cString: strerror(errno)))")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (reading, writing) = (ends[0], ends[1])
  }
}
