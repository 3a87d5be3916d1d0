extension Rule {
  /// The modules that know nothing of the journal, however useful it is as an example in their comments.
  static let modulesWithoutProductWords: Set<String> = [
    "SystemSupport", "ManagedObjectModel", "PersistentStores", "PostgreSQLStore", "OpenCoreData", "StoreInspection",
    "CSV",
    "PipelineDefinition",
    "PipelineEngine", "TableGuessing",
  ]

  /// The prefix of the ledger's tables, the entity and its model, the names of ready pipelines, and the program.
  static let productWords = ["SJ_", "JournalEntry", "SurfJournalModel", "journal-app", "surf-log", "surfjournal"]

  static let productWordsStay = Rule(
    "Words of the product stay in SurfJournal and surfjournal",
    path: "Sources/CSV/Example.swift",
    covers: { file in
      file.isSwift && file.module.map { modulesWithoutProductWords.contains($0) } ?? false
    },
    canaries: [
      ("let a = \"SJ_RUN\"", 1), ("print(\"run surfjournal\")", 1), ("let a = \"SurfJournalModel\"", 1),
      ("/// An entry.\nlet a: JournalEntry? = nil", 2), ("let a = \"journal-app\"", 1),
      ("let a = \"\"\"\n  surf-log\n  \"\"\"", 2), ("let a = \"surf-log.csv\"  // a file", 1),
      ("let a = \"\"\"\n  // SJ_INPUT\n  \"\"\"", 2),
    ],
    permitted: [
      "/// let entry = JournalEntry(context: context)", "let a = 1  // SJ_RUN",
      "let journal = \"log\"", "/// ```swift\n/// let a = \"surf-log.csv\"\n/// ```",
      "let a = \"\"\"\n  text\n  \"\"\"  // journal-app",
    ]
  ) { file in
    file.linesWithoutComments.enumerated().compactMap { index, line in
      productWords.contains { line.contains($0) } ? index + 1 : nil
    }
  }
}

extension SourceFile {
  /// The lines with the text of string literals, without the comments behind code.
  var linesWithoutComments: [String] {
    var isInString = false
    return lines.indices.map { index in
      let (line, masked) = (lines[index], code[index])
      if !masked.ranges(of: "\"\"\"").count.isMultiple(of: 2) { isInString.toggle() }
      // A line that ends in a string of several lines has no comment.
      if isInString { return line }
      // In masked code a comment is blank, so one at the end follows the last code.
      let codeLength = masked.reversed().drop { $0 == " " }.count
      return String(line.prefix(codeLength))
    }
  }
}
