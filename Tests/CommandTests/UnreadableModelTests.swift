import TestSupport
import Testing

/// A model that is missing or can't be read ends every command with 66, and the message names its file.
@Suite struct UnreadableModelTests {
  private static let commands = [
    "import a.csv --entity Surfer --store new.sqlite", "validate a.csv --entity Surfer",
    "preview a.csv --entity Surfer", "diff a.csv a.csv --entity Surfer", "guess a.csv --entity Surfer",
    "seed --from a.csv --entity Surfer -o seed.sqlite", "export --entity Surfer --store journal.sqlite",
    "inspect journal.sqlite", "verify journal.sqlite", "list --entity Surfer --store journal.sqlite",
    "show 1 --entity Surfer --store journal.sqlite", "add --entity Surfer --store journal.sqlite -y",
    "edit 1 --entity Surfer --store journal.sqlite -y --set name=Ann",
    "delete 1 --entity Surfer --store journal.sqlite -y", "undo journal.sqlite -y",
  ]

  @Test(arguments: ["none.mom", "noList.mom", "Half.xcdatamodel"])
  func `Every command ends with 66`(_ model: String) throws {
    let folder = try TemporaryFolder()
    try Logs.importTwo(in: folder)
    try folder.write("name\nAnn\n", to: "a.csv")
    try folder.write("no list", to: "noList.mom")
    try folder.makeFolder("Half.xcdatamodel")
    try folder.write("<model><entity", to: "Half.xcdatamodel/contents")
    let before = try folder.names
    for command in Self.commands {
      let words = command.split(separator: " ").map(String.init) + ["--model", "./\(model)"]
      let output = try Programs.run(Tool.url.path, words, in: folder)
      #expect(output.status == 66, "\(command): \(output.status) \(output.messages)")
      #expect(output.messages.contains(model), "\(command): \(output.messages)")
    }
    #expect(try folder.names == before)
  }
}
