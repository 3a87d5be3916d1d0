import PipelineEngine

extension DefinitionVocabulary {
  /// The names that the journal's pipelines may use, their defaults, and the names in the output of runs.
  public static let journal = DefinitionVocabulary(
    dialects: [.journalApp], dateFormats: [DialectDefinition.journalApp.name: "M/d/yy"], entity: Journal.entityName,
    model: CoreDataStack.modelName, program: "surfjournal", ledgerPrefix: "SJ_")
}

extension DialectDefinition {
  /// The dialect of the journal app's own export: no header, a fixed order of columns, no quotes.
  public static let journalApp = DialectDefinition(
    name: "journal-app", delimiter: ",", quote: nil, header: false,
    columns: ["date", "height", "period", "wind", "location", "rating"], trailingComma: false, lineEnding: .lf)
}
