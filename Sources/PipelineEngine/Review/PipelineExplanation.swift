import OpenCoreData

/// A description of what a definition does, in plain words.
public struct PipelineExplanation: Sendable {
  /// One part of the pipeline, with its description.
  public struct Topic: Sendable, Hashable, Encodable {
    /// What the part is called.
    public let name: String
    /// Its description, one line each.
    public let lines: [String]
  }

  /// In the order in which records pass them.
  public let topics: [Topic]

  /// The keys that the topics describe; others are listed as they are.
  private static let keysCovered: Set<String> = [
    "name", "description", "source", "sourceOptional", "inbox", "dialect", "columns", "extraColumns", "missingColumns",
    "timeZone", "recordRules", "key",
    "duplicates", "store",
    "model",
    "entity", "parts", "chunkRows", "errorPolicy", "errorBudget", "expect", "atomic", "appendOnly", "changedInputs",
    "report", "notify", "read", "retention",
    "rejects",
    "export",
  ]

  /// - Parameter entities: Those of the imports, in order.
  init(_ definition: PipelineDefinition, entities: [NSEntityDescription]) {
    var topics: [Topic] = []
    func add(_ name: String, _ lines: [String?]) {
      let lines = lines.compactMap(\.self)
      if !lines.isEmpty { topics.append(Topic(name: name, lines: lines)) }
    }
    let imports = definition.imports
    add("About", [definition.description])
    for (index, (part, entity)) in zip(imports, entities).enumerated() where !part.columns.isEmpty {
      if !definition.parts.isEmpty { add("Part \(index + 1)", ["fills \(part.entity)"]) }
      topics += Self.topics(ofImport: part, entity)
    }
    let hasImports = imports.contains { !$0.columns.isEmpty }
    if hasImports {
      add("Errors", [Self.errors(definition)])
      add("Expects", definition.expect?.words ?? [])
    }
    add("Store", [Self.store(definition)])
    if hasImports { add("Rejects", [Self.rejects(definition)]) }
    add("Reports", definition.report)
    add("Notifies", definition.notify?.words ?? [])
    add("Removes", definition.retention?.words ?? [])
    if let export = definition.export { add("Exports", Self.words(export, definition.vocabulary)) }
    if case .object(let members) = definition.minimalJSON {
      let rest = members.filter { !Self.keysCovered.contains($0.key) }.sorted { $0.key < $1.key }
      add("Other keys", rest.map { "\($0.key): \($0.value.words)" })
    }
    self.topics = topics
  }

  /// How the records of an entity are read.
  private static func topics(ofImport definition: PipelineDefinition, _ entity: NSEntityDescription) -> [Topic] {
    let details = definition.dialect.details
    let all: [(name: String, lines: [String?])] = [
      (
        "Imports",
        [sources(definition), words(definition.dialect), details.isEmpty ? nil : details.joined(separator: "; ")]
      ),
      ("Columns", definition.columns.map { words($0, entity) } + definition.headerWords),
      ("Leads to", definition.linkedColumns.map { words($0, entity) }),
      ("Records", definition.recordRules.map(\.explanation)),
      ("Key", [key(definition)]),
    ]
    return all.compactMap { name, lines in
      let lines = lines.compactMap(\.self)
      return lines.isEmpty ? nil : Topic(name: name, lines: lines)
    }
  }

  // MARK: Imports

  private static func sources(_ definition: PipelineDefinition) -> String {
    if let inbox = definition.inbox {
      return "what arrives in \(inbox.folder) as \(inbox.pattern.joined(separator: " or "))"
    }
    guard !definition.source.isEmpty else {
      let reading = definition.read.map { ", which the command \($0.run.joined(separator: " ")) prints" } ?? ""
      return "the files named on the command line, plain or compressed\(reading)"
    }
    if let read = definition.read {
      return "\(definition.source.joined(separator: ", ")), which the command \(read.run.joined(separator: " ")) prints"
    }
    let isPattern = definition.source.contains { InputFiles.isPattern($0) }
    let count = InputFiles.expand(definition).count { $0.failure == nil }
    let now = isPattern ? ", \(count) \(count == 1 ? "file" : "files") now" : ""
    let optional = definition.sourceOptional ? "; none need be there" : ""
    return definition.source.joined(separator: ", ") + now + optional
  }

  private static func words(_ dialect: DialectDefinition) -> String {
    if dialect.format == .jsonl { return "as JSON Lines, one object in each line, whose members name the columns" }
    let delimiter = dialect.delimiter == "\t" ? "tabs" : "'\(dialect.delimiter)'"
    let quote = dialect.quote.map { "quoted by \($0)" } ?? "nothing quoted"
    let header =
      dialect.header ? "with a header" : "without a header, the fields being \(Self.fields(dialect.columns))"
    return "as CSV, \(header), fields separated by \(delimiter), \(quote)"
  }

  private static func fields(_ columns: [String]) -> String {
    columns.map { $0.isEmpty ? "(ignored)" : $0 }.joined(separator: ", ")
  }

  private static func words(_ column: ColumnDefinition, _ entity: NSEntityDescription) -> String {
    let others =
      !column.from.isEmpty
      ? " (from \(column.from.joined(separator: " and ")))"
      : column.synonyms.isEmpty ? "" : " (or \(column.synonyms.joined(separator: ", ")))"
    let attribute = column.attribute == column.name ? "" : " → \(column.attribute)"
    let type = entity.columnType(of: column)
    let formats = column.formats.isEmpty && type == .date ? ["iso8601"] : column.formats
    var parts = [(type?.noun ?? "") + (formats.isEmpty ? "" : " as \(formats.joined(separator: " or "))")]
    if let value = column.value { parts.append("always '\(value)'") }
    if column.required { parts.append("the column must be there") }
    parts += column.transforms.map(\.words)
    parts += column.rules.map(\.words)
    return column.name + others + attribute + ": " + parts.joined(separator: "; ")
  }

  private static func words(_ group: LinkedColumns, _ entity: NSEntityDescription) -> String {
    let destination = entity.relationshipsByName[group.relationship]?.destinationEntity?.name ?? ""
    let objects =
      group.link.separator.map { "every \(destination) whose names are between '\($0)'" } ?? "the \(destination)"
    let then =
      switch group.link.ifMissing {
      case .create: "is created with the values of its columns"
      case .reject: "rejects the record"
      case .leave: "is left out"
      }
    let names = "\(objects) with this \(group.link.by.joined(separator: " and "))"
    let incomplete =
      group.link.by.count > 1 && group.link.ifIncomplete == .match
      ? "; an empty field among these counts as no value"
      : ""
    let others = group.columns.map(\.attribute).filter { !group.link.by.contains($0) }
    let effect =
      switch group.link.ifDifferent {
      case .keep: "changes nothing"
      case .reject: "rejects the record"
      case .update: "is written to it"
      }
    let different = others.isEmpty ? "" : "; another \(others.joined(separator: " or ")) \(effect)"
    return "\(group.relationship): \(names); a missing one \(then)\(different)\(incomplete)"
  }

  private static func key(_ definition: PipelineDefinition) -> String? {
    guard !definition.key.isEmpty else { return nil }
    let then =
      switch definition.duplicates {
      case .reject: "is rejected"
      case .skip: "is skipped"
      case .update(nil): "updates the entry"
      case .update(let columns?): "updates \(columns.joined(separator: ", ")) of the entry"
      case .keepNewest(let by): "updates the entry if its \(by) is greater"
      }
    return "\(definition.key.joined(separator: ", ")): a record whose key exists already \(then)"
  }

  private static func errors(_ definition: PipelineDefinition) -> String {
    var text =
      definition.errorPolicy == .stop
      ? "the first invalid record ends the run" : "invalid records are rejected and the run continues"
    if let budget = definition.errorBudget {
      let bounds = [budget.errors.map { "\($0)" }, budget.percent.map { "\(QuantityPattern.plain($0)) %" }]
      text += ", up to \(bounds.compactMap(\.self).joined(separator: " or ")) of them"
    }
    return text
  }

  private static func rejects(_ definition: PipelineDefinition) -> String {
    if let rejects = definition.rejects { return rejects }
    let place =
      !definition.report.isEmpty
      ? "next to the report" : isOnServer(definition) ? "in the current folder" : "next to the store"
    return "\(place), named after the input"
  }

  // MARK: Store and export

  private static func isOnServer(_ definition: PipelineDefinition) -> Bool {
    definition.store.map(StoreAddress.isAddress) ?? false
  }

  private static func store(_ definition: PipelineDefinition) -> String {
    let name = definition.store.map { StoreLocation($0).shown } ?? "the one named on the command line"
    let entities = definition.imports.map(\.entity).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    let model = ", \(entities.joined(separator: ", ")) of \(definition.model ?? "the model that is compatible with it")"
    if definition.columns.isEmpty { return name + model }
    let rows = definition.chunkRows(isOnServer: isOnServer(definition))
    let saves = definition.atomic ? "all or nothing" : "\(rows) records a save"
    let growing = definition.appendOnly ? "; of a file that has grown only the new records" : ""
    let changed =
      switch definition.changedInputs {
      case .refuse: ""
      case .replace: "; an input that has changed replaces what it inserted before"
      case .onlyNew: "; of every input only the records that the store does not have"
      }
    return "\(name)\(model), \(saves)\(growing)\(changed)"
  }

  private static func words(_ export: ExportDefinition) -> String {
    let resolved = export.resolved(output: export.output ?? "-")
    return resolved.format == .jsonl
      ? "as JSON Lines, one object in each line"
      : words(resolved.dialect)
  }

  private static func words(_ export: ExportDefinition, _ vocabulary: DefinitionVocabulary) -> [String] {
    var lines = ["to \(export.output ?? "the path given on the command line"), \(words(export))"]
    let columns = export.columns.map { $0.name == $0.attribute ? $0.name : "\($0.attribute) as \($0.name)" }
    lines.append(columns.isEmpty ? "every attribute" : columns.joined(separator: ", "))
    if let predicate = export.predicate { lines.append("where \(predicate)") }
    if !export.sort.isEmpty {
      let keys = export.sort.map { $0.ascending ? $0.attribute : "\($0.attribute), greatest first" }
      lines.append("by " + keys.joined(separator: ", then "))
    }
    if let limit = export.limit { lines.append("at most \(limit) entries") }
    let covered: Set<String> = ["output", "format", "dialect", "columns", "predicate", "sort", "limit"]
    if case .object(let members) = export.minimalJSON(vocabulary) {
      let rest = members.filter { !covered.contains($0.key) }.sorted { $0.key < $1.key }
      lines += rest.map { "\($0.key): \($0.value.words)" }
    }
    return lines
  }
}
