import Foundation
import TestSupport
import Testing

/// What can be said in two ways means the same in both.
@Suite struct SameThingTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.write(Logs.two, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 0)
  }

  private func run(_ words: [String]) throws -> ProgramOutput { try Programs.run(Tool.url.path, words, in: folder) }

  @Test(arguments: [
    (["list", "s"], ["list", "--store", "s"]), (["show", "s", "1"], ["show", "1", "--store", "s"]),
    (["show", "s", "2", "--json"], ["show", "--json", "2", "--store=s"]),
    (["export", "s"], ["export", "--store", "s"]),
    (["diff", "log.csv", "s"], ["diff", "log.csv", "--store", "s"]),
    (["edit", "s", "1", "--rating", "5", "-n"], ["edit", "1", "--store", "s", "--rating", "5", "-n"]),
    (["delete", "s", "1", "2", "-n"], ["delete", "1", "2", "--store", "s", "-n"]),
    (["add", "s", "--rating", "5", "-n"], ["add", "--store", "s", "--rating", "5", "-n"]),
    (["history", "s", "--json"], ["history", "--store", "s", "--json"]),
    (["inspect", "s"], ["inspect", "--store", "s"]),
    (["verify", "s"], ["verify", "--store", "s"]), (["undo", "s", "-n"], ["undo", "--store", "s", "-n"]),
    (["ledger", "compact", "s"], ["ledger", "compact", "--store", "s"]),
    (["inspect", "s"], ["store", "info", "s"]), (["verify", "s"], ["store", "verify", "s"]),
    (["check", "surf-log"], ["pipeline", "check", "surf-log"]), (["pipelines"], ["pipeline", "list"]),
  ])
  func `The store's place, and names of two words`(_ one: [String], _ other: [String]) throws {
    let (first, second) = (try run(one), try run(other))
    #expect(first.status == 0, "\(first.messages)")
    #expect(second.status == first.status)
    #expect(second.text == first.text)
    // The summary of an export says how long it took.
    if one[0] != "export" { #expect(second.messages == first.messages) }
  }

  @Test func `A dry run of an import is a validation`() throws {
    let before = try folder.contents
    let imported = try run(["import", "log.csv", "--dry-run", "--json"])
    let validated = try run(["validate", "log.csv", "--json"])
    #expect(imported.status == 0)
    #expect(try imported.json().counts == validated.json().counts)
    #expect(try imported.json().kind == validated.json().kind)
    #expect(try folder.contents == before)
    // As the value of another option it is a value, and it goes together with other letters.
    #expect(try run(["import", "log.csv", "--store", "t", "--null", "-n", "-q"]).status == 0)
    #expect(folder.exists("t"))
    #expect(try run(["import", "log.csv", "-nq"]).status == 0)
    // Behind -- it is the name of a file.
    #expect(try run(["import", "--store", "s", "--", "--dry-run"]).status == 66)
  }

  @Test func `A number is an entry, and a store of that name is named by the option`() throws {
    #expect(try run(["show", "1"]).status == 64)
    try FileManager.default.copyItem(at: folder.file("s"), to: folder.file("7"))
    #expect(try run(["show", "1", "--store", "7"]).status == 0)
    #expect(try run(["show", "./7", "1"]).status == 0)
  }

  @Test func `Without a command the program says what most people need first`() throws {
    let output = try run([])
    #expect(output.status == 64)
    #expect(output.text.isEmpty)
    for command in ["import", "guess", "run", "list", "undo", "export", "help"] {
      #expect(output.messages.contains("surfjournal \(command)"))
    }
  }

  /// Each line of the examples in a command's help uses its options as they are.
  @Test(arguments: HelpTests.commands)
  func `Every command's help has two examples, whose words the program knows`(_ command: String) throws {
    let help = try run(["help", command]).text
    let block = try #require(help.components(separatedBy: "\nExamples:\n").last)
    let lines = block.replacingOccurrences(of: "\\\n", with: " ").split(separator: "\n").prefix { $0.hasPrefix("  ") }
    #expect(lines.count >= 2)
    #expect(lines.contains { $0.hasPrefix("  surfjournal \(command)") })
    for line in lines where line.hasPrefix("  surfjournal ") {
      let example = line.dropFirst("  surfjournal ".count).split(separator: " > ")[0]
      // With --help every option is still read.
      let output = try Tool.shell("$surfjournal \(example) --help", in: folder)
      #expect(output.status == 0, "\(line): \(output.messages)")
    }
  }
}
