import Foundation
import TestSupport
import Testing

/// What can be typed next on a command line, as the shells ask the program for it.
@Suite struct CompletionTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// The words that are offered at the end of a line; `:files` and the prefix where files are.
  private func words(_ line: String...) throws -> [String] {
    let output = try Programs.run(Tool.url.path, ["complete"] + line, in: folder)
    #expect(output.status == 0)
    #expect(output.messages.isEmpty)
    return output.text.split(separator: "\n").map { line in
      String(line.split(separator: "\t", omittingEmptySubsequences: false)[0])
    }
  }

  @Test func `Every command is offered with what it does, by its beginning`() throws {
    #expect(try words("") == HelpTests.commands.sorted { index(of: $0) < index(of: $1) })
    #expect(try words("im") == ["import"])
    #expect(try words("help", "un") == ["undo"])
    #expect(try words("nothing", "") == [])
    let output = try Tool.run("complete", "und", in: folder)
    #expect(output.text == "undo\ttake back an import\n")
  }

  private func index(of command: String) -> Int {
    let help = (try? Tool.run("help", in: folder).text) ?? ""
    return help.range(of: "\n  \(command) ").map { help.distance(from: help.startIndex, to: $0.lowerBound) } ?? 0
  }

  @Test(arguments: HelpTests.commands)
  func `Every option of a command's help is offered`(_ command: String) throws {
    let help = try Tool.run("help", command, in: folder).text
    let declared = help.split(separator: "\n").compactMap { line in
      line.firstMatch(of: /^  (?:-[a-zA-Z], |    )(--[a-z-]+)/).map { String($0.1) }
    }
    #expect(!declared.isEmpty)
    #expect(try words(command, "-") == declared)
  }

  @Test func `An option that is given is not offered again, unless it may be repeated`() throws {
    #expect(try words("import", "--store", "s", "--sto") == ["--stop-at", "--stop-on-error"])
    #expect(try words("import", "--report", "r.txt", "--rep") == ["--report", "--replace"])
    #expect(try words("import", "--", "--sto") == [":files "])
  }

  @Test func `Values: files, pipelines, and the words that an option knows`() throws {
    #expect(try words("import", "") == [":files "])
    #expect(try words("import", "--store", "jo") == [":files "])
    #expect(try words("import", "--store=jo") == [":files --store="])
    #expect(try words("import", "--log-level", "") == ["error", "warning", "info", "debug"])
    #expect(try words("import", "--log-level=w") == ["--log-level=warning"])
    #expect(try words("import", "--extra-columns", "") == ["error", "warn", "ignore"])
    #expect(try words("export", "-o", "") == [":files "])
    #expect(try words("run", "surf") == ["surf-log", "surf-log-strict", ":files "])
    #expect(try words("ledger", "") == ["compact", "drop"])
    #expect(try words("store", "info", "") == [":files "])
    #expect(try words("pipeline", "run", "surf-log-") == ["surf-log-strict", ":files "])
    #expect(try words("export", "-ocopy.csv", "--form") == ["--format"])
    #expect(try words("list", "--limit", "") == [])
    #expect(try words("list", "--columns", "date,lo") == ["date,location"])
  }

  /// Each word that is offered for an option is one that the program takes.
  @Test(arguments: [
    ["validate", "log.csv", "--log-level"], ["validate", "log.csv", "--log-format"],
    ["validate", "log.csv", "--extra-columns"], ["validate", "log.csv", "--missing-columns"],
    ["validate", "log.csv", "--fields-match"], ["validate", "log.csv", "--ragged-rows"],
    ["validate", "log.csv", "--encoding"], ["validate", "log.csv", "--format"],
    ["validate", "log.csv", "--date-format"], ["export", "--store", "s", "--format"],
    ["export", "--store", "s", "--dialect"], ["export", "--store", "s", "--damaged-log"],
    ["export", "--store", "s", "--missing-external"], ["pipelines", "export", "surf-log", "--as"],
  ])
  func `The words that are offered are taken`(_ line: [String]) throws {
    try folder.write(Logs.two, to: "log.csv")
    _ = try Tool.run("import", "log.csv", "--store", "s", in: folder)
    let output = try Programs.run(Tool.url.path, ["complete"] + line + [""], in: folder)
    let offered = output.text.split(separator: "\n").map { String($0.split(separator: "\t")[0]) }
    #expect(!offered.isEmpty)
    for word in offered {
      let run = try Programs.run(Tool.url.path, line + [word], in: folder)
      #expect(run.status != 64, "\(line.last ?? "") \(word): \(run.messages)")
    }
  }

  @Test func `Entities and attributes are those of the store at hand, or of the model that is named`() throws {
    try SurfModel.write(to: folder)
    #expect(try words("list", "--model", SurfModel.name, "--entity", "") == ["Reef", "Session", "Spot", "Tag"])
    #expect(try words("list", "--model=\(SurfModel.name)", "--entity", "Session", "--sort", "p") == ["photo", "price"])
    let export = ["export", "--model", SurfModel.name, "--entity", "Session", "--columns"]
    let output = try Programs.run(Tool.url.path, ["complete"] + export + ["date,r"], in: folder)
    #expect(output.text == "date,rating\t\n")
    #expect(try words("add", "--model", SurfModel.name, "--entity", "Spot", "--set", "n") == ["name="])
    #expect(try words("import", "--key", "date,l") == ["date,location"])
    #expect(try words("seed", "--model", SurfModel.name, "--from", "Ta") == ["Tag=", ":files "])
    #expect(try words("seed", "--model", SurfModel.name, "--from", "Tag=t") == [":files Tag="])
  }

  @Test func `For a store that can't be read the journal's names are offered, without a message`() throws {
    try folder.write("no store", to: "s")
    #expect(try words("list", "--store", "s", "--entity", "") == ["JournalEntry"])
    #expect(try folder.names == ["s"])
  }
}
