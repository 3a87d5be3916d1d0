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
      -q, --quiet                print nothing on success
      -h, --help                 show this help
          --version              show the version

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
    guard path.unicodeScalars.allSatisfy({ $0.value > 0x20 && !"%\"'\\$;#".unicodeScalars.contains($0) }) else {
      throw arguments.mistake("the folder '\(path)' has a space or a character that units can't name; choose another")
    }
    guard user.wholeMatch(of: /[a-z_][a-z0-9_-]*\$?/) != nil else {
      throw arguments.mistake("--user is '\(user)', which is not the name of a user")
    }
    folder = NightlyFolder(path: path, user: user, program: Self.program)
    isQuiet = arguments.has("quiet")
  }

  /// Where the program was started from. A name in the search path stays valid when a newer version is installed.
  private static var program: String {
    let path = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
    return path.isEmpty ? "/usr/bin/surfjournal" : path
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
    let path = folder.path
    var lines = [made.isEmpty ? "\(path) is complete; nothing was changed." : "Made in \(path):"]
    lines += made.map { "  \($0)" }
    if !made.isEmpty, !kept.isEmpty { lines.append("Kept as they were: \(kept.joined(separator: ", ")).") }
    lines += [
      "",
      "Next:",
      "  1. Put a file into \(path)/inbox, and see what an import would do:",
      "       surfjournal run \(path)/nightly.json --dry-run",
      "     If the file has another form, such as a spreadsheet's:",
      "       surfjournal guess FILE -o \(path)/form.json",
      "     and in nightly.json set \"extends\" to \"form.json\".",
      "  2. Let it run every night, by cron:",
      "       crontab -e      and add the lines of \(path)/units/crontab",
      "     or by systemd:",
      "       sudo cp \(path)/units/surfjournal.{service,timer} /etc/systemd/system/",
      "       sudo systemctl daemon-reload",
      "       sudo systemctl enable --now surfjournal.timer",
      "  3. Read \(path)/reports/nightly.html in the morning.",
      "",
    ]
    return lines.joined(separator: "\n")
  }
}
