extension Rule {
  /// Words and phrases for which CONTRIBUTING.md names better ones.
  static let bannedPhrases = [
    "whoever", "nobody", "somebody", "likewise", "beside", "besides", "mend", "mends", "mended", "told", "wish",
    "wishes", "wished", "so to speak", "let go of", "lets go of", "comes to be", "one's own", "all the same",
    "by heart", "sees to it", "see to it", "throws away", "thrown away", "the house",
  ]

  static let words = Rule(
    "Comments and documents use plain present-day English",
    path: "Sources/CSV/Example.swift",
    covers: { file in
      file.isSwift && file.lies(in: "Sources") || file.path.hasSuffix(".md") && !file.lies(in: "Tests")
    },
    canaries: [
      ("/// Whoever comes waits.", 1), ("let a = 1\n// Nobody asks.", 2), ("let a = 1  // is told", 1),
      ("/// The file beside\n/// it.", 1), ("/// Let\n/// go of\n/// it.", 1), ("/// It sees to\n/// it.", 1),
      ("/// Of one that is new nothing is known.", 1), ("// It ends. Of the others it knows.", 1),
      ("/// A text that is no number.", 1), ("/// These are no\n/// changes.", 1),
    ],
    permitted: [
      "let nobody = 1", "let a = \"nobody is told\"", "/// See `nobody`.", "/// There is no file.",
      "// It is no longer open.", "/// There are no changes; it is no more than a test.", "/// Of course.",
      "/// A beside-the-point word.", "/// The rest of a record.", "\"\"\"\n// whoever\n\"\"\"",
    ]
  ) { file in
    PhraseScan(file).breaches
  }

  static let wordsOfTests = Rule(
    "Names and comments of tests use plain present-day English",
    path: "Tests/CSVTests/ExampleTests.swift",
    // The tests of these rules quote what the rules forbid.
    covers: { $0.isSwift && $0.lies(in: "Tests") && !$0.lies(in: "Tests/TidyTests") },
    canaries: [
      ("@Test(\"It is told\") func a() {}", 1), ("@Test(\n  \"It is\"\n    + \" told\")\nfunc a() {}", 3),
      ("@Suite(\"Of one that is new nothing is known\") struct A {}", 1),
      ("@Test func `What is no text is refused`() {}", 1),
      ("A(testDescription: \"beside it\")", 1), ("@Test(\"a\", arguments: b)\nfunc `nobody asks`() {}", 2),
      ("// Nobody asks.", 1),
    ],
    permitted: [
      "@Test(\"A word\", arguments: [\"nobody\"]) func a() {}", "let `nobody` = 1", "a(\"it is told\")",
      "@Test(\"What is not\") func a() {}\n@Test(\"no text\") func b() {}", "@Suite struct A {}\nlet a = \"whoever\"",
    ]
  ) { file in
    PhraseScan(file).breaches
  }

  static let wordsOfScripts = Rule(
    "Comments of scripts use plain present-day English",
    path: ".ci/example", covers: \.isScript,
    canaries: [
      ("# It lies beside it.", 1), ("a = 1  # nobody", 1), ("def a():\n    \"\"\"Whoever asks.\"\"\"", 2),
      ("\"\"\"A.\n\n  beside it\n\"\"\"", 3), ("# Of the\n# files alone.", 1),
    ],
    permitted: ["nobody=1", "echo \"told\"", "#!/bin/sh", "a${#nobody}", "# See `nobody`."]
  ) { file in
    PhraseScan(file).breaches
  }
}

extension SourceFile {
  /// Whether comments begin with a number sign: a program in Python or of a shell.
  var isScript: Bool {
    path.hasSuffix(".py") || (lies(in: ".ci") || lies(in: "Packaging")) && !path.dropFirst().contains(".")
  }
}

/// The prose of a file: the comments of a Swift file, the text of a document without code.
private struct PhraseScan {
  private var words: [(text: String, line: Int)] = []

  init(_ file: SourceFile) {
    var isCode = false
    var isInString = false
    var titles = TitleScan()
    for index in file.lines.indices {
      var text = file.lines[index]
      if file.isSwift {
        if file.lies(in: "Tests") {
          for word in titles.words(text, code: file.code[index]) { words.append((word, index + 1)) }
        }
        text = isInString ? "" : Self.comment(text, code: file.code[index])
        if !file.code[index].ranges(of: "\"\"\"").count.isMultiple(of: 2) { isInString.toggle() }
      } else if file.isScript {
        text = Self.scriptComment(text, isInString: &isInString)
      }
      if text.contains("```") {
        isCode.toggle()
        text = ""
      }
      // Its tables list the words that are not to be used.
      if isCode || file.path == "CONTRIBUTING.md" && text.hasPrefix("|") { text = "" }
      var prose = Self.replacing("`", in: text)
      // Documents quote titles of tests.
      if !file.isSwift { prose = Self.replacing("\"", in: prose) }
      // The end of a comment ends its last sentence.
      if prose.allSatisfy(\.isWhitespace) { words.append((".", index + 1)) }
      for word in prose.split(whereSeparator: \.isWhitespace) { words.append((word.lowercased(), index + 1)) }
    }
  }

  /// What follows a number sign, or is in a documentation string of Python.
  private static func scriptComment(_ line: String, isInString: inout Bool) -> String {
    let parts = line.split(separator: "\"\"\"", omittingEmptySubsequences: false)
    var prose: [Substring] = []
    for (number, part) in parts.enumerated() {
      if number > 0 { isInString.toggle() }
      if isInString { prose.append(part) }
    }
    if prose.isEmpty, let sign = line.firstRange(of: "#"), !line[sign.upperBound...].hasPrefix("!"),
      line[..<sign.lowerBound].last?.isWhitespace != false
    {
      prose.append(line[sign.upperBound...])
    }
    return prose.joined(separator: " ")
  }

  /// The text with "code" in place of what is between two marks.
  private static func replacing(_ mark: Character, in text: String) -> String {
    text.split(separator: mark, omittingEmptySubsequences: false).enumerated()
      .map { $0.offset.isMultiple(of: 2) ? String($0.element) : "code" }.joined()
  }

  /// The comment of a line; in masked code it is blank, so it is what follows the last code.
  private static func comment(_ line: String, code: String) -> String {
    let codeLength = code.reversed().drop { $0 == " " }.count
    let rest = line.dropFirst(codeLength).drop { $0 == " " }
    guard rest.hasPrefix("//") else { return "" }
    return String(rest.drop { $0 == "/" })
  }

  /// The lines at which a banned phrase begins.
  var breaches: [Int] {
    let plain = words.map { Self.letters($0.text) }
    let phrases = Rule.bannedPhrases.map { $0.split(separator: " ").map(String.init) }
    let byFirstWord = Dictionary(grouping: phrases) { $0[0] }
    var lines: [Int] = []
    for index in words.indices {
      let isPhrase = byFirstWord[plain[index], default: []].contains { phrase in
        plain[index...].prefix(phrase.count).elementsEqual(phrase)
      }
      if isPhrase || beginsWithGenitive(at: index, plain) || deniesWithNo(at: index, plain) {
        if lines.last != words[index].line { lines.append(words[index].line) }
      }
    }
    return lines
  }

  /// A sentence that begins with its genitive: "Of one that is new nobody need ask".
  private func beginsWithGenitive(at index: Int, _ plain: [String]) -> Bool {
    guard plain[index] == "of", index + 1 < plain.count else { return false }
    guard index == 0 || ".!?".contains(words[index - 1].text.last ?? " ") else { return false }
    return ["a", "an", "the", "one", "what", "those", "something", "each", "two"].contains(plain[index + 1])
  }

  /// "is no number" for "is not a number"; "there is no number" is plain.
  private func deniesWithNo(at index: Int, _ plain: [String]) -> Bool {
    guard ["is", "are", "was", "were"].contains(plain[index]), index + 2 < plain.count, plain[index + 1] == "no"
    else { return false }
    if ["longer", "more", "less"].contains(plain[index + 2]) { return false }
    return index == 0 || plain[index - 1] != "there"
  }

  /// The word without the punctuation around it.
  private static func letters(_ word: String) -> String {
    let isPart: (Character) -> Bool = { $0.isLetter || $0.isNumber || $0 == "'" || $0 == "-" }
    let start = word.firstIndex(where: isPart) ?? word.endIndex
    let end = word.lastIndex(where: isPart).map { word.index(after: $0) } ?? word.endIndex
    return start < end ? String(word[start..<end]) : ""
  }
}

/// Finds the names of tests: the titles of `@Test` and `@Suite`, raw names of functions, and descriptions of cases.
private struct TitleScan {
  /// Whether the title of an attribute goes on in the next line.
  private var isInTitle = false

  /// The words of the names in a line, with the end of a sentence around each name.
  mutating func words(_ line: String, code: String) -> [String] {
    var names: [Substring] = []
    let begins = ["@Test(", "@Suite(", "testDescription: \""].compactMap { code.firstRange(of: $0)?.lowerBound }.min()
    let isContinued = isInTitle
    if begins != nil || isContinued {
      let start = isContinued ? code.startIndex : begins ?? code.startIndex
      let offset = code.distance(from: code.startIndex, to: start)
      let end = code[start...].firstRange(of: "arguments:")?.lowerBound ?? code.endIndex
      let length = code.distance(from: start, to: end)
      names.append(line.dropFirst(offset).prefix(length))
      // A title ends with its line unless it begins or goes on in the next one.
      let rest = code[start..<end]
      isInTitle = rest.hasSuffix("(") || rest.allSatisfy { "\"+ ".contains($0) } && rest.contains("\"")
    }
    let quoted = names.flatMap { $0.split(separator: "\"", omittingEmptySubsequences: false).enumerated() }
      .filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
    var words = quoted.flatMap { $0.split(separator: " ") }.map { $0.lowercased() }
    if !isContinued, !words.isEmpty { words.insert(".", at: 0) }
    if !isInTitle, !words.isEmpty { words.append(".") }
    if let name = code.firstRange(of: "func `")?.upperBound {
      words += [["."], code[name...].prefix { $0 != "`" }.split(separator: " ").map { $0.lowercased() }, ["."]].joined()
    }
    return words
  }
}
