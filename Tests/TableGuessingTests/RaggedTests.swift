import TestSupport
import Testing

@testable import TableGuessing

/// Records with fewer or more fields are ordinary ones only if a program has written them so throughout.
@Suite struct RaggedTests {
  private static let header = "Date;Spot;Height;Rating;Wind\n"

  /// Records with these ends, a day apart.
  private func guess(_ ends: [String]) -> TableGuess {
    let rows = (0..<20).map { "2014-07-\($0 + 10);Spot \($0 % 7)\(ends[$0 % ends.count])\n" }
    return guessed(Self.header + rows.joined())
  }

  @Test func `Empty fields that are left out at the end of records are taken as empty`() {
    let guess = guess([";3 ft;4;offshore", ";2 m;3;onshore", ";1 m;5", ";2 m;3;glassy"])
    #expect(!guess.isRefused)
    #expect(guess.layout.ragged.value == .pad)
    #expect(PipelineText(guess, name: "a", program: "surfjournal").text.contains("\"raggedRows\": \"pad\""))
  }

  @Test func `Empty fields beyond the last column are dropped`() {
    let guess = guess([";3 ft;4;offshore", ";2 m;3;onshore;;", ";1 m;5;", ";2 m;3;glassy"])
    #expect(!guess.isRefused)
    #expect(guess.layout.ragged.value == .lenient)
    #expect(PipelineText(guess, name: "a", program: "surfjournal").text.contains("\"mode\": \"lenient\""))
  }

  static let damaged: [[String]] = [
    // Other records have their empty fields: something was lost.
    [";3 ft;4;offshore", ";2 m;3;", ";1 m;5", ";2 m;3;glassy"],
    // A line break in a text that is not quoted.
    [";3 ft;4;offshore", ";2 m;3;onshore", "\nBeach;1 m;5;onshore", ";2 m;3;glassy"],
    // A delimiter in a text that is not quoted.
    [";3 ft;4;offshore", ";2 m;3;onshore", "; North;1 m;5;x", ";2 m;3;glassy"],
    // A value of another column.
    [";3 ft;4;offshore", ";2 m;3;onshore", ";1 m;high", ";2 m;3;glassy"],
  ]

  @Test(arguments: damaged)
  func `Records that may be damaged stay errors`(ends: [String]) {
    #expect(guess(ends).layout.ragged.value == .none)
  }
}
