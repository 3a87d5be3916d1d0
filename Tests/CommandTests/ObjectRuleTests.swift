import Foundation
import TestSupport
import Testing

/// `add`, `edit` and `delete` refuse what breaks a rule of the model at the other end of a relationship before they show
/// it, in a dry run too.
@Suite struct ObjectRuleTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try LateModel.write("M.xcdatamodel", entities: LateModel.crews, to: folder)
    for values in [
      ["Author", "name=Ann"], ["Author", "name=Bob"], ["Book", "title=One", "author=1"],
      ["Book", "title=Two", "author=1"], ["Rider", "name=Cid"], ["Rider", "name=Dan"], ["Rider", "name=Eve"],
      ["Crew", "name=A", "riders=1,2"],
    ] {
      let output = try run(["add", "--entity", values[0], "-yq"] + values.dropFirst().flatMap { ["--set", $0] })
      try #require(output.status == 0, "\(output.messages)")
    }
    try #require(try run(["edit", "2", "--entity", "Author", "--set", "favourite=2", "-yq"]).status == 0)
  }

  private func run(_ arguments: [String]) throws -> ProgramOutput {
    try Programs.run(
      Tool.url.path, arguments + ["--store", "s.sqlite", "--model", "M.xcdatamodel"], in: folder)
  }

  @Test(arguments: [
    (
      ["edit", "1", "--entity", "Author", "--clear", "books"],
      ": Book.author is a mandatory relationship, and no object is set; Book "
    ),
    (["edit", "1", "--entity", "Rider", "--clear", "crew"], "Crew 1: Crew.riders has 1 objects, and 2 are the least"),
    (["delete", "2", "--entity", "Rider"], "Crew 1: Crew.riders has 1 objects, and 2 are the least"),
    (["delete", "1", "--entity", "Author"], "Book.author is a mandatory relationship"),
    (["delete", "2", "--entity", "Book"], "Author 2 leads to Book 2 over 'favourite', which has no inverse"),
  ])
  func `What the model forbids at the other end is refused before it is shown`(
    _ arguments: [String], message: String
  ) throws {
    let before = try folder.data("s.sqlite")
    for option in ["-n", "-y"] {
      let output = try run(arguments + [option])
      #expect(output.status == 65 && output.text.isEmpty, "\(output.text)")
      #expect(output.messages.contains(message), "\(output.messages)")
      #expect(try folder.data("s.sqlite") == before)
    }
  }

  @Test func `What was cleared, as the message says, can be deleted`() throws {
    #expect(try run(["edit", "2", "--entity", "Author", "--clear", "favourite", "-yq"]).status == 0)
    #expect(try run(["delete", "2", "--entity", "Book", "-yq"]).status == 0)
    #expect(try run(["delete", "1", "2", "--entity", "Rider", "-yq"]).status == 0)
    #expect(try Tool.run("verify", "s.sqlite", "--model", "M.xcdatamodel", in: folder).status == 0)
  }
}
