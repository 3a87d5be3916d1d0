import PipelineEngine

extension DefinitionVocabulary {
  /// What pipelines of the journal may name, what they take where they name nothing, and what their runs write.
  public static let journal = DefinitionVocabulary(
    dialects: [.journalApp], dateFormats: [DialectDefinition.journalApp.name: "M/d/yy"], entity: Journal.entityName,
    model: CoreDataStack.modelName, program: "surfjournal", ledgerPrefix: "SJ_")
}

extension DialectDefinition {
  /// The journal app's own export: no header, a fixed order of columns, nothing quoted.
  public static let journalApp = DialectDefinition(
    name: "journal-app", delimiter: ",", quote: nil, header: false,
    columns: ["date", "height", "period", "wind", "location", "rating"], trailingComma: false, lineEnding: .lf)
}
