import Foundation
import PipelineEngine
import SystemSupport

/// Finds the command, and answers requests that need none.
enum Program {
  /// The result of reading the command line.
  enum Invocation {
    case done(ExitCode)
    case work(any Command)
  }

  /// The arguments of the program; nil for one that is not UTF-8. Swift repairs such arguments, and the program would
  /// store a value that was not given.
  static var arguments: [String?] {
    let repaired = CommandLine.arguments.dropFirst()
    guard repaired.contains(where: { $0.contains("\u{FFFD}") }),
      let given = FileManager.default.contents(atPath: "/proc/self/cmdline")
    else { return Array(repaired) }
    // A zero byte ends each argument.
    return given.split(separator: 0, omittingEmptySubsequences: false).dropFirst().dropLast()
      .map { String(validating: $0, as: UTF8.self) }
  }

  /// Reads the command line. Handles help, the version and mistakes.
  ///
  /// - Parameter words: The arguments; nil for one that is not UTF-8.
  static func prepare(_ words: [String?]) -> Invocation {
    do throws(CommandFailure) {
      let arguments = words.compactMap(\.self)
      if let index = words.firstIndex(of: nil) {
        throw CommandFailure.usage("argument \(index + 1) is not UTF-8; check the terminal's encoding", of: nil)
      }
      guard let first = arguments.first else {
        Console.show(CommandList.start)
        return .done(.usage)
      }
      if first == Completion.word {
        try Console.print(Completion.answer(to: Array(arguments.dropFirst())))
        return .done(.ok)
      }
      if first.hasPrefix("-") {
        let parsed = try Arguments(arguments, usage: CommandList.usage, command: nil)
        let asked = parsed.has("help") ? try? CommandList.find(parsed.operands).command.usage : nil
        if let code = try answer(parsed, asked ?? CommandList.usage) { return .done(code) }
        throw CommandFailure.usage("no command is given; name one, such as import", of: nil)
      }
      let (command, rest) = try CommandList.find(arguments)
      let parsed = try Arguments(rest, usage: command.usage, command: command.name)
      if let color = try parsed.choice("color", TerminalSettings.ColorChoice.self) { TerminalSettings.choose(color) }
      if let code = try answer(parsed, command.usage) { return .done(code) }
      try checkCurrentFolder()
      if !command.takesAddresses { try parsed.refuseAddresses() }
      try parsed.refuseAddressesOfFiles()
      try parsed.refuseOtherAddresses()
      try requireThreads()
      return .work(try command.init(parsed.naming(command.storeWord)))
    } catch {
      return .done(error.report())
    }
  }

  /// A run needs threads for its queues and its stages, and one more for each processor up to sixteen. An import on two
  /// processors has eight, and the first.
  private static func requireThreads() throws(CommandFailure) {
    let count = 6 + min(ProcessInfo.processInfo.activeProcessorCount, 16)
    guard let code = ThreadSupply.shortage(of: count) else { return }
    throw CommandFailure(
      "the system does not let the program have \(count) threads: \(String(cString: strerror(code))); raise the limit of "
        + "processes (ulimit -u, TasksMax of systemd, pids of a container) or of memory (ulimit -v)", .temporaryFailure)
  }

  /// Refuses to work in a folder whose path is not UTF-8. It is known with replacement characters, and relative paths
  /// would lead into another folder, which would even be made.
  private static func checkCurrentFolder() throws(CommandFailure) {
    let path = FileManager.default.currentDirectoryPath
    var (own, named) = (stat(), stat())
    guard path.unicodeScalars.contains("\u{FFFD}"), stat(".", &own) == 0 else { return }
    // Its name may have such a character itself.
    if stat(path, &named) == 0, (named.st_dev, named.st_ino) == (own.st_dev, own.st_ino) { return }
    throw CommandFailure.usage(
      "the path of the current folder, \(path), is not UTF-8; change to another folder, or rename this one", of: nil)
  }

  private static func answer(_ arguments: Arguments, _ usage: String) throws(CommandFailure) -> ExitCode? {
    if arguments.has("help") {
      try Console.print(usage)
    } else if arguments.has("version") {
      try Console.print("surfjournal \(ProgramVersion.text)\n")
    } else {
      return nil
    }
    return .ok
  }
}
