import Foundation
import PipelineEngine

struct InitCommand: Command {
  static let name = "init"
  static let usage = """
    Usage: surfjournal init DIR [options]

    Makes a folder for an import that runs every night: an inbox for files, folders
    for rejects and reports, a pipeline, and a crontab and systemd units that run
    it. What exists already stays as it is.

    Options:
          --user NAME            user that the units run the program as; by default
                                 the one that makes the folder
      \(SharedOptions.quiet)
      \(SharedOptions.help)

    Examples:
      surfjournal init nightly
      sudo surfjournal init /var/lib/surfjournal --user surfjournal

    """

  private let folder: NightlyFolder
  private let isQuiet: Bool

  init(_ arguments: Arguments) throws(CommandFailure) {
    let path = URL(fileURLWithPath: try arguments.onlyOperand("a folder")).standardizedFileURL.path
    let user = arguments.string("user") ?? NSUserName()
    // Both end up in units, where such characters have a meaning.
    let program = Self.program
    for (what, name) in [("folder", path), ("program's path", program)] where !Self.isPlain(name) {
      throw arguments.mistake("the \(what) '\(name)' has a space or a character that units can't name; choose another")
    }
    guard user.wholeMatch(of: /[a-z_][a-z0-9_-]*\$?/) != nil else {
      throw arguments.mistake("--user is '\(user)'; expected the name of a user, of letters and digits")
    }
    folder = NightlyFolder(path: path, user: user, program: program)
    isQuiet = arguments.has("quiet")
  }

  private static func isPlain(_ path: String) -> Bool {
    path.unicodeScalars.allSatisfy { $0.value > 0x20 && !"%\"'\\$;#".unicodeScalars.contains($0) }
  }

  /// The program's path as it was started, without following links: a link stays valid when it leads to a newer version.
  private static var program: String {
    let name = CommandLine.arguments.first ?? ""
    if name.contains("/") { return URL(fileURLWithPath: name).standardizedFileURL.path }
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    let found = folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    return found ?? "/usr/bin/surfjournal"
  }

  func run() async -> ExitCode {
    do throws(CommandFailure) {
      let (made, kept) = try folder.make()
      if !isQuiet { try Console.print(text(made, kept)) }
      return .ok
    } catch {
      return error.report()
    }
  }

  private func text(_ made: [String], _ kept: [String]) -> String {
    var lines = [made.isEmpty ? "\(folder.path) is complete; nothing was changed." : "Made in \(folder.path):"]
    lines += made.map { "  \($0)" }
    if !made.isEmpty, !kept.isEmpty { lines.append("Kept as they were: \(kept.joined(separator: ", ")).") }
    lines += ["", "Next:"]
    for (index, step) in steps.enumerated() {
      lines.append("  \(index + 1). \(step[0])")
      lines += step.dropFirst().map { "     \($0)" }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// What to do next, a heading and its lines each.
  private var steps: [[String]] {
    let path = folder.path
    let tried = [
      "Put a file into \(path)/inbox, wait half a minute, and see what an import would do:",
      "  surfjournal run \(path)/nightly.json --dry-run",
      "If the file has another form, such as a spreadsheet's:",
      "  surfjournal guess FILE -o \(path)/form.json",
      "and in nightly.json set \"extends\" to \"form.json\".",
    ]
    let owned = [
      "Give the folder to the user that runs the import:",
      "  sudo useradd --system \(folder.user)      unless there is one",
      "  sudo chown -R \(folder.user): \(path)",
    ]
    let started = [
      "Let it run every night, by cron:",
      "  crontab -e      and add the lines of \(path)/units/crontab",
      "or by systemd:",
      "  sudo cp \(path)/units/surfjournal.service \(path)/units/surfjournal.timer /etc/systemd/system/",
      "  sudo systemctl daemon-reload",
      "  sudo systemctl enable --now surfjournal.timer",
    ]
    let read = [
      "Read \(path)/reports/index.html in the morning, or let the pipeline tell you: see \"notify\" in nightly.json."
    ]
    return [tried] + (folder.user == NSUserName() ? [] : [owned]) + [started, read]
  }
}
