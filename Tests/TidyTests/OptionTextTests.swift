import Foundation
import Testing

/// The text of an option that three commands have is in `SharedOptions`, so that it is changed once.
@Suite struct OptionTextTests {
  private static let commandsMax = 2

  /// The texts of options that more than `commandsMax` of the files have.
  private static func repeated(in files: [SourceFile]) -> [String] {
    var counts: [String: Int] = [:]
    for file in files { for text in Set(optionTexts(file.lines)) { counts[text, default: 0] += 1 } }
    return counts.filter { $0.value > commandsMax }.keys.sorted()
  }

  /// The lines that declare an option, each with those that go on with its description.
  private static func optionTexts(_ lines: [String]) -> [String] {
    var texts: [String] = []
    var isInText = false
    for line in lines {
      let words = line.drop { $0 == " " }
      let indentation = line.count - words.count
      if indentation == 10 && words.hasPrefix("--") || indentation == 6 && words.hasPrefix("-") {
        texts.append(String(words))
        isInText = true
      } else if isInText, indentation > 30, !words.isEmpty {
        texts[texts.count - 1] += " " + words
      } else {
        isInText = false
      }
    }
    return texts
  }

  @Test func `No three commands repeat the text of an option`() {
    let commands = Repository.files.filter { $0.isSwift && $0.lies(in: "Sources/surfjournal/Commands") }
    #expect(commands.count > 20)
    #expect(Self.repeated(in: commands).isEmpty)
  }

  @Test func `Canary: a text in three commands is found, one that ends otherwise is another`() {
    let files = ["at first", "at first", "at last"].map { end in
      SourceFile(
        path: "Sources/surfjournal/Commands/A.swift",
        text: "          --store PATH           store that is read\n" + String(repeating: " ", count: 33) + end
          + "\n      -q, --quiet                print nothing\n")
    }
    #expect(Self.repeated(in: files) == ["-q, --quiet                print nothing"])
    #expect(Self.repeated(in: Array(files.prefix(2))).isEmpty)
  }
}
