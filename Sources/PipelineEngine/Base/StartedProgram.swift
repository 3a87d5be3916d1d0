import CSpawn
import Foundation
import Locking

/// Why a program could not be started, or how it failed.
struct ProgramFailure: Error, Sendable {
  let message: String

  init(_ message: String) { self.message = message }
}

/// A program that gets bytes on its standard input and is waited for.
struct StartedProgram {
  /// The program and its arguments.
  let words: [String]
  let environment: [String: String]
  /// The folder that it is started in, and that the path of the program starts at.
  let folder: URL?
  let timeoutSeconds: Double

  /// How much of what it says on standard error is looked at.
  private static let messageBytesMax = 1 << 10
  /// Between the request to end and the end by force.
  private static let graceSeconds = 2.0
  /// Between two looks at a program that runs.
  private static let pauseSeconds = 0.01

  /// Starts it and waits for its end. What it has started itself and left running is not waited for.
  ///
  /// - Parameters:
  ///   - output: A descriptor for what it prints; nil where that is of no interest.
  ///   - isCancelled: Whether it is to be ended.
  /// - Throws: Why it could not be started, or how it failed.
  func run(
    _ input: [UInt8], output: Int32? = nil, unless isCancelled: () -> Bool = { false }
  ) throws(ProgramFailure) {
    // A full disk is a reason to notify: without a file, what the program says is not known.
    let said = Self.namelessFile()
    let process = try start(input, output: output, messages: said?.fileDescriptor)
    guard let status = Self.end(of: process, within: timeoutSeconds, unless: isCancelled) else {
      kill(-process, SIGTERM)
      if Self.end(of: process, within: Self.graceSeconds) == nil {
        kill(-process, SIGKILL)
        _ = Self.end(of: process, within: Self.graceSeconds)
      }
      if isCancelled() { throw ProgramFailure("cancelled while \(words[0]) ran, which was ended") }
      throw ProgramFailure("\(words[0]) did not end within \(timeoutSeconds.formatted()) s, and was ended")
    }
    // As wait(2) has them: the signal, or the exit status above it.
    let (signal, code) = (status & 0x7F, status >> 8 & 0xFF)
    if signal != 0 { throw ProgramFailure("\(words[0]) was ended by the signal \(signal)") }
    if code != 0 { throw ProgramFailure("\(words[0]) ended with the status \(code)\(said.map(Self.firstLine) ?? "")") }
  }

  // MARK: Starting

  /// - Returns: The process, which leads a group of its own.
  private func start(_ input: [UInt8], output: Int32?, messages: Int32?) throws(ProgramFailure) -> Int32 {
    let program = try path()
    let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { close(nothing) }
    let pipe = Pipe()
    // The program must not have the end that is written to: its input would not end.
    for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
      _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
    }
    let variables = environment.map { "\($0)=\($1)" }
    let process = spawn_program(
      program, Self.list(words), Int32(words.count), Self.list(variables), Int32(variables.count), folder?.path ?? "",
      pipe.fileHandleForReading.fileDescriptor, output ?? nothing, messages ?? nothing)
    try? pipe.fileHandleForReading.close()
    let descriptor = fcntl(pipe.fileHandleForWriting.fileDescriptor, F_DUPFD_CLOEXEC, 0)
    try? pipe.fileHandleForWriting.close()
    if process < 0 {
      close(descriptor)
      throw ProgramFailure("\(program) can't be started: \(String(cString: strerror(-process)))")
    }
    Self.write(input, to: descriptor)
    return process
  }

  /// Texts one after the other, each with a zero byte.
  private static func list(_ texts: [String]) -> String {
    texts.map { $0.replacingOccurrences(of: "\0", with: "") + "\0" }.joined()
  }

  private func path() throws(ProgramFailure) -> String {
    let name = words[0]
    if name.contains("/") {
      let base = folder ?? URL(fileURLWithPath: ".")
      let path = name.hasPrefix("/") ? name : base.appendingPathComponent(name).standardized.path
      if FileManager.default.isExecutableFile(atPath: path) { return path }
      throw ProgramFailure("the program \(path) does not exist or may not be run; check the path")
    }
    let folders = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
    let found = folders.lazy.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    guard let found else { throw ProgramFailure("the program '\(name)' was not found in PATH; write its path") }
    return found
  }

  /// Writes the input on a thread of its own: the program may read it late, in part or not at all.
  private static func write(_ input: [UInt8], to descriptor: Int32) {
    Thread.begin("program input") {
      // A reader that is gone must not end this process.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &signals, nil)
      defer { close(descriptor) }
      var rest = input[...]
      while !rest.isEmpty {
        let piece = Array(rest.prefix(32 << 10))
        let count = Foundation.write(descriptor, piece, piece.count)
        if count < 0, errno == EINTR { continue }
        if count <= 0 { return }
        rest = rest.dropFirst(count)
      }
    }
  }

  // MARK: Ending

  /// How the process has ended, as wait(2) has it; nil where it still runs.
  private static func end(
    of process: Int32, within seconds: Double, unless isCancelled: () -> Bool = { false }
  ) -> Int32? {
    let deadline = ContinuousClock.now + .seconds(seconds)
    var status: Int32 = 0
    while true {
      let found = waitpid(process, &status, WNOHANG)
      // Another part of the process may have taken its status.
      if found == process || found < 0 && errno == ECHILD { return status }
      if ContinuousClock.now >= deadline || isCancelled() { return nil }
      Thread.sleep(forTimeInterval: pauseSeconds)
    }
  }

  /// A temporary file whose name is removed at once; nil where none can be made.
  private static func namelessFile() -> FileHandle? {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor < 0 { return nil }
    unlink(path)
    return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  /// The first line that was written to a file. The last word of a line that is longer than what is looked at may be the
  /// beginning of a secret, which would not be recognised.
  private static func firstLine(_ file: FileHandle) -> String {
    try? file.seek(toOffset: 0)
    let data = (try? file.read(upToCount: messageBytesMax)) ?? Data()
    guard var line = String(decoding: data, as: UTF8.self).split(separator: "\n").first else { return "" }
    if data.count == messageBytesMax, !data.drop(while: { $0 == UInt8(ascii: "\n") }).contains(UInt8(ascii: "\n")) {
      line = line.lastIndex(where: \.isWhitespace).map { line[..<$0] } ?? ""
    }
    return line.isEmpty ? "" : ": \(RawText.oneLine(String(line)))"
  }
}
