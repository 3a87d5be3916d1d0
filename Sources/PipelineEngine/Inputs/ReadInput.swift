import CSV
import Foundation
import SystemSupport
import PersistentStores

/// A copy of an input, or of parts of it, that the command of a pipeline has printed. It is removed when this object is
/// released, and by a later process if this one is killed.
final class ReadInput: Sendable {
  /// The path of the copy, which ends like the input's name.
  let path: String
  private let folder: PrivateFolder

  private init(_ name: String) throws(RunFailure) {
    do {
      folder = try PrivateFolder()
    } catch {
      throw RunFailure(
        code: .sourceError, exitCode: .ioError,
        message: "no folder for a copy of \(name) can be made: \((error as NSError).reason)")
    }
    let last = URL(fileURLWithPath: name).lastPathComponent
    path = folder.url.appendingPathComponent(last == "/" ? "input" : last).path
  }

  /// Reads a whole input.
  static func whole(
    _ name: String, _ definition: ReadDefinition, in folder: URL?, unless isCancelled: () -> Bool
  ) throws(RunFailure) -> ReadInput {
    try copy(of: Command(name: name, definition: definition, folder: folder)) { command, file throws(RunFailure) in
      _ = try command.run(definition.words(path: name), into: file, at: 0..<Int.max, unless: isCancelled)
    }
  }

  /// How much of an input is read before a shard: it has the header, or the records that show the members of JSON Lines.
  static let headBytes = 2 << 20

  /// Reads parts of an input, which are at their places in the copy. It ends with the last one, and has nothing between
  /// them.
  ///
  /// - Parameter parts: Bytes of the input, in order.
  /// - Throws: Also where the command prints more or fewer bytes than it was asked for.
  static func parts(
    _ parts: [Range<Int>], of name: String, _ definition: ReadDefinition, in folder: URL?,
    unless isCancelled: () -> Bool
  ) throws(RunFailure) -> ReadInput {
    try copy(of: Command(name: name, definition: definition, folder: folder)) { command, file throws(RunFailure) in
      for part in parts where !part.isEmpty {
        guard let words = definition.words(path: name, bytes: part) else { continue }
        let count = try command.run(words, into: file, at: part, unless: isCancelled)
        if count == part.count { continue }
        let bytes = "the \(part.count.grouped) bytes from \(part.lowerBound.grouped) on"
        throw command.failure(
          count > part.count
            ? "prints more than \(bytes); correct 'range', which has to print these and no others"
            : "printed \(count.grouped) of \(bytes); the input may have become shorter since it was planned, or 'range' asks "
              + "for other bytes than it should")
      }
    }
  }

  /// A copy that `write` fills by running the command.
  private static func copy(
    of command: Command, write: (_ command: Command, _ file: Int32) throws(RunFailure) -> Void
  ) throws(RunFailure) -> ReadInput {
    try command.checkName()
    let input = try ReadInput(command.name)
    let file = try input.open()
    defer { close(file) }
    try write(command, file)
    return input
  }

  private func open() throws(RunFailure) -> Int32 {
    let file = Foundation.open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    if file >= 0 { return file }
    throw RunFailure(
      code: .sourceError, exitCode: .ioError, message: "the copy \(path) can't be made: \(systemMessage(errno))")
  }

  /// The commands of one input.
  private struct Command {
    let name: String
    let definition: ReadDefinition
    let folder: URL?

    func checkName() throws(RunFailure) {
      guard definition.takesForOption(name) else { return }
      throw RunFailure(
        code: .sourceError, exitCode: .usage,
        message: "the command that reads inputs would take the name \(name) for an option; write ./\(name), or "
          + "something before {path} in 'read'")
    }

    /// Runs a command until it has printed more than it was asked for: a disk would be full before a long one ends.
    ///
    /// - Returns: How many bytes it has printed.
    func run(
      _ words: [String], into file: Int32, at bytes: Range<Int>, unless isCancelled: () -> Bool
    ) throws(RunFailure) -> Int {
      guard lseek(file, off_t(bytes.lowerBound), SEEK_SET) >= 0 else { throw failure(systemMessage(errno)) }
      // The program moves the offset, which it shares.
      func printedCount() -> Int { Int(lseek(file, 0, SEEK_CUR)) - bytes.lowerBound }
      let program = StartedProgram(
        words: words, environment: ProcessInfo.processInfo.environment, folder: folder,
        timeoutSeconds: definition.timeoutSeconds)
      do throws(ProgramFailure) {
        try program.run([], output: file, unless: isCancelled, or: { printedCount() > bytes.count })
      } catch {
        if printedCount() > bytes.count { return printedCount() }
        throw RunFailure(
          code: .sourceError, exitCode: isCancelled() ? .temporaryFailure : .ioError,
          message: "\(name) can't be read: \(error.message)")
      }
      return printedCount()
    }

    func failure(_ reason: String) -> RunFailure {
      RunFailure(code: .sourceError, exitCode: .ioError, message: "\(name) can't be read: its command \(reason)")
    }
  }
}
