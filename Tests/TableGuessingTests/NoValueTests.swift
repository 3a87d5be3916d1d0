import Foundation
import PipelineDefinition
import Testing

@testable import TableGuessing

/// Signs for no value in forms that a dialect's `nullSequences` do not cover, and backslashes that come in pairs.
@Suite struct NoValueTests {
  private func pipeline(_ rows: (Int) -> String, header: String) throws -> PipelineDefinition {
    let guess = guessed(header + (10...28).map(rows).joined())
    #expect(!guess.isRefused)
    return try PipelineDefinition(data: Data(PipelineText(guess, name: "a", program: "surfjournal").text.utf8))
  }

  @Test(arguments: ["\"–\"", " –", "\" – \""])
  func `A sign for no value in quotes or between spaces is emptied in its column`(written: String) throws {
    let definition = try pipeline(
      { "2014-07-\($0);\"Rincon\";\($0 % 3 == 0 ? written : "\"4\"")\n" }, header: "date;spot;rating\n")
    let rating = try #require(definition.columns.first { $0.attribute == "rating" })
    let bare = written.replacing("\"", with: "")
    guard case .map(let values, _)? = rating.transforms.first else {
      Issue.record("no map: \(rating.transforms)")
      return
    }
    #expect(values[bare] == "")
    #expect(definition.columns.first { $0.attribute == "location" }?.transforms.isEmpty == true)
  }

  @Test func `A sign for no value in quotes next to a date is not a time`() throws {
    let definition = try pipeline(
      { "\"2014-07-\($0)\",\"\($0 % 4 == 0 ? "n/a" : "07:30")\",\"Rincon\"\n" }, header: "date,time,spot\n")
    let date = try #require(definition.columns.first { $0.attribute == "date" })
    #expect(date.transforms.contains { "\($0)".contains(" ?(?:n/a)$") }, "\(date.transforms)")
  }

  @Test func `A pair of backslashes may be one and its escape character, and is refused`() {
    let rows = (10...28).map { "2014-07-\($0),\"Rincon\\\\Point\",4\n" }.joined()
    let guess = guessed("date,spot,rating\n" + rows)
    #expect(guess.undecided(below: confidenceMin).map(\.name) == ["escape"])
    #expect(!guessed("date,spot,rating\n" + rows + "2014-07-29,\"Rincon\\Point\",4\n").isRefused)
  }

  @Test func `A backslash before a line end within a field may be its escape character, and is refused`() {
    let rows = (10...28).map { "2014-07-\($0),\"Rincon\\\nPoint\",4\n" }.joined()
    for more in ["", "2014-07-29,\"South\\\\Beach\",4\n"] {
      let guess = guessed("date,spot,rating\n" + rows + more)
      #expect(guess.undecided(below: confidenceMin).map(\.name) == ["escape"], "\(more)")
    }
    #expect(!guessed("date,spot,rating\n" + rows + "2014-07-29,\"Rincon\\Point\",4\n").isRefused)
    // At the end of a record it is text.
    #expect(!guessed("date,rating,spot\n" + (10...28).map { "2014-07-\($0),4,C:\\\n" }.joined()).isRefused)
  }

  @Test func `A backslash before an apostrophe is text where other apostrophes stand without one`() {
    let rows = (10...28).map { "2014-07-\($0),\"Cowell's\",4\n" }.joined()
    let guess = guessed("date,spot,rating\n" + rows + "2014-07-29,\"8\\'9\"\" board\",4\n")
    #expect(!guess.isRefused && guess.escape.value == .doubled, "\(guess.escape)")
    // Where each has one, it may be an escape character.
    let all = guessed("date,spot,rating\n" + rows.replacing("'", with: "\\'") + "2014-07-29,Rincon\\Point,4\n")
    #expect(all.undecided(below: confidenceMin).map(\.name) == ["escape"], "\(all.escape)")
  }

  @Test(arguments: ["8\\'9", "C:\\Surf"])
  func `A backslash before an ordinary character where others escape quotes is refused`(text: String) {
    let rows = (10...28).map { "2014-07-\($0),\"Cowell's, \\\"the \($0)\\\" of it\",4\n" }.joined()
    #expect(!guessed("date,spot,rating\n" + rows).isRefused)
    let guess = guessed("date,spot,rating\n" + rows + "2014-07-29,\"a \\\"\(text)\\\" board\",4\n")
    #expect(guess.undecided(below: confidenceMin).map(\.name) == ["escape"], "\(guess.escape)")
  }

  @Test func `A dollar sign before a brace stays in a label`() throws {
    let definition = try pipeline(
      { "2014-07-\($0),Rincon,4\n" }, header: "date,spot ${HOME} $${x},rating\n")
    #expect(definition.columns.contains { $0.name == "spot ${HOME} $${x}" }, "\(definition.columns.map(\.name))")
  }
}
