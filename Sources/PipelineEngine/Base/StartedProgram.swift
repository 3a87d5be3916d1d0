import Foundation
import SystemSupport

/// A program that gets bytes on its standard input and is waited for. It ends with this process, however that ends.
struct StartedProgram {
  /// The program and its arguments.
  let words: [String]
  let environment: [String: String]
  /// The folder that it is started in, and that the path of the program starts at.
  let folder: URL?
  let timeoutSeconds: Double

  /// Between the request to end and the end by force.
  private static let graceSeconds = 2.0
  /// Between two looks at a program that runs.
  private static let pauseMilliseconds: Int32 = 10

  /// Starts it and waits for its end. What it has started itself and left running is not waited for.
  ///
  /// - Parameters:
  ///   - output: A descriptor for what it prints; nil where that is of no interest.
  ///   - isCancelled: Whether it is to be ended.
  ///   - isTooMuch: Whether it has printed more than it may, so that it is ended without a chance to print more.
  /// - Throws: Why it could not be started, or how it failed.
  func run(
    _ input: [UInt8], output: Int32? = nil, unless isCancelled: () -> Bool = { false },
    or isTooMuch: () -> Bool = { false }
  ) throws(ProgramFailure) {
    let path = try path()
    let group = try GuardedGroup()
    defer { group.end() }
    var said = try ProgramMessages()
    defer { said.close() }
    let process = try start(path, input, output: output, messages: said.writing, in: group)
    let status = Self.end(of: process, &said, within: timeoutSeconds) { isCancelled() || isTooMuch() }
    guard let status else {
      if !isTooMuch() { group.signal(SIGTERM) }
      if isTooMuch() || Self.end(of: process, &said, within: Self.graceSeconds) == nil {
        group.signal(SIGKILL)
        _ = Self.end(of: process, &said, within: Self.graceSeconds)
      }
      if isCancelled() { throw ProgramFailure("cancelled while \(words[0]) ran, which was ended") }
      throw ProgramFailure("\(words[0]) did not end within \(timeoutSeconds.formatted()) s, and was ended")
    }
    // As wait(2) has them: the signal, or the exit status above it.
    let (signal, code) = (status & 0x7F, status >> 8 & 0xFF)
    if signal != 0 { throw ProgramFailure("\(words[0]) was ended by the signal \(signal)") }
    if code != 0 { throw ProgramFailure("\(words[0]) ended with the status \(code)\(said.firstLine())") }
  }

  // MARK: Starting

  private func start(
    _ path: String, _ input: [UInt8], output: Int32?, messages: Int32, in group: GuardedGroup
  ) throws(ProgramFailure) -> Int32 {
    defer { close(messages) }
    let started = try ProgramStart(
      path: path, words: words, environment: environment, folder: folder, output: output, messages: messages,
      group: group.number
    ).start()
    Self.write(input, to: started.input)
    return started.process
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
    of process: Int32, _ said: inout ProgramMessages, within seconds: Double,
    unless isCancelled: () -> Bool = { false }
  ) -> Int32? {
    let deadline = ContinuousClock.now + .seconds(seconds)
    var status: Int32 = 0
    while true {
      let found = waitpid(process, &status, WNOHANG)
      // Another part of the process may have taken its status.
      if found == process || found < 0 && errno == ECHILD { return status }
      if ContinuousClock.now >= deadline || isCancelled() { return nil }
      said.read(waiting: pauseMilliseconds)
    }
  }
}
