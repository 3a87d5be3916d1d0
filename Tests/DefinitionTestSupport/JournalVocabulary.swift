import PipelineDefinition

/// Names and defaults such as a program hands in.
extension DefinitionVocabulary {
  package static let journal = DefinitionVocabulary(
    dialects: [.journalApp], dateFormats: ["journal-app": "M/d/yy"], entity: "JournalEntry", model: "SurfJournalModel",
    program: "surfjournal", ledgerPrefix: "SJ_")
}

extension DialectDefinition {
  package static let journalApp = DialectDefinition(
    name: "journal-app", delimiter: ",", quote: nil, header: false,
    columns: ["date", "height", "period", "wind", "location", "rating"], trailingComma: false, lineEnding: .lf)
}

extension DefinitionEnvironment {
  package static let journal = DefinitionEnvironment(vocabulary: .journal)
}
