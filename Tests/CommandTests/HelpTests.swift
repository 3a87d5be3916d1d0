import Foundation
import TestSupport
import Testing

/// What the program says of itself. The snapshots are recorded anew with SURFJOURNAL_RECORD=1 in the environment.
@Suite struct HelpTests {
  static let commands = [
    "import", "validate", "preview", "diff", "export", "seed", "run", "replay", "list", "show", "add", "edit",
    "delete", "history", "undo", "copy", "plan", "work", "report", "split", "inspect", "verify", "ledger", "guess",
    "check",
    "notify", "init", "pipelines", "help",
  ]
  static let isRecording = ProcessInfo.processInfo.environment["SURFJOURNAL_RECORD"] == "1"

  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: commands)
  func `Each command's help is the one recorded, asked for in three ways`(_ command: String) throws {
    let help = try Tool.run(command, "--help", in: folder)
    try compare(help, with: command)
    for output in [try Tool.run(command, "-h", in: folder), try Tool.run("help", command, in: folder)] {
      #expect(output.status == 0)
      #expect(output.text == help.text)
      #expect(output.messages.isEmpty)
    }
  }

  @Test func `The program's help is the one recorded, asked for in three ways`() throws {
    let help = try Tool.run("--help", in: folder)
    try compare(help, with: "surfjournal")
    #expect(try Tool.run("-h", in: folder).text == help.text)
    #expect(try Tool.run("help", in: folder).text == help.text)
  }

  @Test func `The program's help names every command`() throws {
    let help = try Tool.run("--help", in: folder).text
    for command in Self.commands { #expect(help.contains("\n  \(command) ")) }
  }

  @Test(arguments: commands)
  func `Help fits a narrow terminal`(_ command: String) throws {
    let lines = try Tool.run("help", command, in: folder).text.split(separator: "\n")
    #expect(lines.filter { $0.count > 80 } == [])
  }

  @Test(arguments: [[]] + commands.map { [$0] })
  func `The version is stated everywhere`(_ command: [String]) throws {
    let output = try Programs.run(Tool.url.path, command + ["--version"], in: folder)
    #expect(output.status == 0)
    #expect(
      output.text.wholeMatch(of: /surfjournal \d+\.\d+\.\d+( \([0-9a-f]+(, changed)?(, \d{4}-\d{2}-\d{2})?\))?\n/)
        != nil)
    #expect(output.messages.isEmpty)
  }

  @Test(arguments: ["0123456789ab", "ba9876543210, changed, 2026-11-23"])
  func `A program that is stamped with a commit names it, and keeps its time`(_ commit: String) throws {
    let copy = folder.file("surfjournal")
    try FileManager.default.copyItem(at: Tool.url, to: copy)
    func time() throws -> Date? {
      try FileManager.default.attributesOfItem(atPath: copy.path)[.modificationDate] as? Date
    }
    let before = try time()
    let stamp = try Programs.run(Repository.path(".ci/stamp"), [copy.path, commit], in: folder)
    #expect(stamp.status == 0, "\(stamp.messages)")
    #expect(try Programs.run(copy.path, ["--version"], in: folder).text.hasSuffix(" (\(commit))\n"))
    #expect(try time() == before)
  }

  /// `CommandOption` takes lines with these indentations for declarations: a description that is broken before a dash
  /// must not stand there.
  @Test(arguments: commands)
  func `A line that begins with a dash declares an option, or goes on with an example`(_ command: String) throws {
    let help = try Tool.run("help", command, in: folder).text
    var examples = false
    for line in help.split(separator: "\n", omittingEmptySubsequences: false) {
      examples = examples ? !line.isEmpty : line == "Examples:"
      guard line.first == " ", line.drop(while: { $0 == " " }).first == "-" else { continue }
      let isDeclaration = line.contains(/^  (?:-[a-zA-Z], --|    --|-[a-zA-Z] )/)
      #expect(examples ? !isDeclaration : isDeclaration, "\(line)")
    }
  }

  @Test func `An option in an example is not declared by it`() throws {
    // The example of `report` has a line of its own for its options.
    #expect(try Tool.run("help", "report", in: folder).text.contains("\n    --report run.html --rejects"))
    let options = try Programs.run(Tool.url.path, ["complete", "report", "--rep"], in: folder)
    #expect(options.text.split(separator: "\n").count == 1)
    #expect(options.text.hasPrefix("--report\twrite the report here"))
  }

  @Test func `Help goes before mistakes in the rest of the line`() throws {
    let output = try Tool.run("import", "--help", "--chunk-rows", "none", in: folder)
    #expect(output.status == 0)
  }

  private func compare(_ output: ProgramOutput, with name: String) throws {
    #expect(output.status == 0)
    #expect(output.messages.isEmpty)
    let file = Repository.file("Tests/CommandTests/Snapshots/\(name).txt")
    if Self.isRecording { try output.bytes.write(to: file) }
    #expect(output.text == String(decoding: try Data(contentsOf: file), as: UTF8.self))
  }
}
