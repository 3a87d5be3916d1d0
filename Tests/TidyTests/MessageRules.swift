/// Rules about what the program and its libraries say: see `Message`.
extension Rule {
  /// Phrases that new users did not understand, in addition to those that no prose may have.
  static let bannedInMessages =
    bannedPhrases.filter { $0 != "besides" } + [
      "gone on", "goes on with", "go on with", "to be gone on with", "as you wish", "one argument too many",
      "there is no", "there are no", "give one at least", "nothing a ledger can do", "counted and no more",
      "fields parted", "it is not said", "say it once", "says it already", "it can't be told", "can't be told",
      "nothing is to be", "named above", "please", "oops", "invalid input",
    ]

  /// A screen of 80 columns has five lines of this.
  static let messageCharactersMax = 480

  private static func covers(_ file: SourceFile) -> Bool { file.isSwift && file.lies(in: "Sources") }

  static let wordsOfMessages = Rule(
    "Messages use plain words", covers: covers,
    canaries: [
      ("let a = \"the run is gone on with at record 7\"", 1),
      (
        "let a =\n  \"it is told what \"\n  + \"a run "
          + "does\"", 2
      ),
      ("throw mistake(\"there is no store \\(path); check the path\")", 1),
      ("fail(\"correct the lines named above and import\")", 1), ("a(\"nothing was saved: as you wish \\(b)\")", 1),
    ],
    permitted: [
      "let a = \"the record goes on\"", "// gone on with\nlet a = 1", "let a = \"gone on\"",
      "precondition(b, \"it is told what a run does\")", "let a = \"\"\"\n  it is told what a run does\n  \"\"\"",
    ]
  ) { file in
    MessageScan.messages(of: file).filter { message in bannedInMessages.contains { message.contains(phrase: $0) } }
      .map(\.line)
  }

  static let lengthOfMessages = Rule(
    "Messages are short", covers: covers,
    canaries: [("let a = \"" + String(repeating: "a long text ", count: 41) + "\"", 1)],
    permitted: ["let a = \"" + String(repeating: "a long text ", count: 39) + "\""]
  ) { file in
    MessageScan.messages(of: file).filter { $0.text.count > messageCharactersMax }.map(\.line)
  }

  /// The calls whose argument is a whole message, shown as it is.
  private static let wholeMessages: Set<String> = [
    "mistake", "usage", "CommandFailure", "PipelineError", "JournalError", "UndoRefusal", "LedgerAccessError",
  ]

  static let formOfMessages = Rule(
    "A message says what is wrong and what to do", covers: covers,
    canaries: [
      ("throw mistake(\"a store must be named\")", 1),
      ("throw CommandFailure(\n  \"no store is given \"\n    + \"to it\", .usage)", 2),
    ],
    permitted: [
      "throw mistake(\"no store is given; name one\")", "throw mistake(\"a store must be given\\(hint)\")",
      "throw PipelineError(\"it can't be read. Check the path\")", "let a = text(\"a store must be named\")",
      "throw mistake(\"no store\")",
    ]
  ) { file in
    MessageScan.messages(of: file).filter { wholeMessages.contains($0.call) && !$0.hasRemedy }.map(\.line)
  }
}

extension Message {
  /// Whether something follows the problem: after a semicolon, a colon or a full stop, or in a value at the end.
  fileprivate var hasRemedy: Bool {
    ["; ", ". ", ": "].contains(where: text.contains) || text.hasSuffix("…")
  }
}
