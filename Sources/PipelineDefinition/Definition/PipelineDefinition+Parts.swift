import Foundation

/// The parts of a definition, which are encoded with the keys that a part of a file can have.
@propertyWrapper public struct PipelineParts: Sendable, Hashable, Encodable {
  /// The parts, in the order of their import.
  public var wrappedValue: [PipelineDefinition]

  /// A list of parts.
  public init(wrappedValue: [PipelineDefinition]) { self.wrappedValue = wrappedValue }

  /// Encodes a list of objects.
  public func encode(to encoder: any Encoder) throws {
    try wrappedValue.map { part -> JSONValue in
      guard case .object(let members) = PipelineDefinition.json(part) else { return .null }
      return .object(members.filter { PipelineDefinition.partKeys.contains($0.key) && $0.value != .null })
    }
    .encode(to: encoder)
  }
}

extension PipelineDefinition {
  /// The keys of a part of a file.
  static let partKeys: Set<String> = Set(
    [
      CodingKeys.entity, .source, .sourceOptional, .verifyHash, .inbox, .dialect, .columns, .extraColumns,
      .missingColumns, .timeZone, .recordRules, .key, .duplicates, .relationships, .chunkRowsSet, .appendOnly,
    ].map(\.rawValue))

  /// What the imports of a run are, one after the other: the parts, each with what this definition says of the whole run,
  /// or the definition itself.
  package var imports: [PipelineDefinition] {
    if parts.isEmpty { return [self] }
    return parts.enumerated().map { index, part in
      var whole = self
      whole.parts = []
      whole.description = nil
      (whole.entity, whole.source, whole.sourceOptional) = (part.entity, part.source, part.sourceOptional)
      (whole.inbox, whole.verifyHash, whole.dialect) = (part.inbox, part.verifyHash, part.dialect)
      (whole.columns, whole.extraColumns, whole.missingColumns) = (part.columns, part.extraColumns, part.missingColumns)
      (whole.timeZone, whole.recordRules, whole.key) = (part.timeZone, part.recordRules, part.key)
      // A key decides about its records.
      if !part.key.isEmpty { whole.changedInputs = .refuse }
      (whole.duplicates, whole.relationships) = (part.duplicates, part.relationships)
      (whole.chunkRowsSet, whole.appendOnly, whole.sourceMap) = (part.chunkRowsSet, part.appendOnly, part.sourceMap)
      return whole
    }
  }

  /// The entity that is filled first.
  package var firstEntity: String { parts.first?.entity ?? entity }

  /// The path of an import in the definition's file; empty for the definition itself.
  package func importPath(_ index: Int) -> String { parts.isEmpty ? "" : "parts[\(index)]" }

  /// Calls `body`, whose mistakes are those of an import, and gives them the paths that they have in the file.
  package func inImport<Result>(
    _ index: Int, _ body: () throws(PipelineError) -> Result
  ) throws(PipelineError) -> Result {
    do throws(PipelineError) {
      return try body()
    } catch {
      if parts.isEmpty { throw error }
      throw PipelineError(
        code: error.code, file: error.file,
        mistakes: error.mistakes.map { mistake in
          var mistake = mistake
          mistake.path = importPath(index) + (mistake.path.isEmpty ? "" : ".\(mistake.path)")
          return mistake
        })
    }
  }

  /// Changes what can be said of each part: of all of them, or of the definition itself.
  package mutating func changeImports<Failure: Error>(
    _ body: (inout PipelineDefinition) throws(Failure) -> Void
  ) throws(Failure) {
    try body(&self)
    for index in parts.indices { try body(&parts[index]) }
  }

  mutating func setBaseDirectory(_ folder: URL?) { changeImports { $0.baseDirectory = folder } }

  // MARK: Reading

  mutating func readParts(_ items: [(value: JSONValue, path: String)], _ reader: ObjectReader) {
    let mistakes = reader.mistakes
    if !items.isEmpty, reader.value("entity") != nil {
      reader.note("entity", "each part names its own entity; remove this one")
    }
    for item in items {
      mistakes.within(item.path) { parts += readPart(item.value, mistakes).map { [$0] } ?? [] }
    }
  }

  private func readPart(_ value: JSONValue, _ mistakes: MistakeList) -> PipelineDefinition? {
    var value = value
    if case .object(let members) = value {
      let ofRun = Set(CodingKeys.allCases.map(\.rawValue)).subtracting(Self.partKeys)
      for key in members.keys.sorted() where ofRun.contains(key) {
        mistakes.add(key, Self.refusedInPart[key] ?? "applies to the whole run; write it once, outside of 'parts'")
      }
      value = .object(members.filter { !ofRun.contains($0.key) })
    }
    guard let reader = ObjectReader(value, path: "", keys: Self.partKeys.sorted(), mistakes: mistakes) else {
      return nil
    }
    var part = self
    (part.parts, part.source, part.inbox, part.columns, part.key) = ([], [], nil, [], [])
    (part.recordRules, part.duplicates, part.sourceMap) = ([], .reject, SourceMap())
    if reader.value("entity") == nil {
      mistakes.add("", "'entity' is missing; name the entity that the part fills")
    }
    part.readSettings(reader)
    return part
  }

  private static let refusedInPart = [
    "parts": "a part has no parts; list all of them in the pipeline",
    "export": "a pipeline with parts only imports; write the export as a pipeline of its own",
    "expect": "expectations are about a run of one entity; write a pipeline of its own for it",
    "charts": "charts show one entity, and a run with parts fills several; remove them",
  ]

  // MARK: Checking

  /// Checks the parts, and that the definition says nothing else about one entity.
  func checkParts(_ mistakes: MistakeList) {
    let own: [(key: CodingKeys, isSet: Bool)] = [
      (.source, !source.isEmpty), (.inbox, inbox != nil), (.columns, !columns.isEmpty),
      (.recordRules, !recordRules.isEmpty), (.key, !key.isEmpty), (.duplicates, duplicates != .reject),
    ]
    for (key, isSet) in own where isSet {
      mistakes.add(key.rawValue, "belongs to the parts, each of which fills its own entity; move it into a part")
    }
    let refused: [(key: CodingKeys, isSet: Bool)] = [
      (.export, export != nil), (.expect, expect != nil), (.charts, charts != nil),
    ]
    for (key, isSet) in refused where isSet {
      mistakes.add(key.rawValue, Self.refusedInPart[key.rawValue] ?? "")
    }
    if changedInputs != .refuse, parts.allSatisfy({ !$0.key.isEmpty }) {
      mistakes.add(
        "changedInputs",
        "each part has a key, so 'duplicates' decides about records that the store has; remove it")
    }
    for (index, part) in parts.enumerated() {
      mistakes.within(importPath(index)) {
        if !part.parts.isEmpty { mistakes.add("parts", Self.refusedInPart["parts"] ?? "") }
        if part.columns.isEmpty, !mistakes.isWrong("columns") {
          mistakes.add("columns", "no columns are declared, so nothing could be imported; list them")
        }
        if !part.columns.isEmpty { imports[index].checkTogether(mistakes) }
      }
    }
  }
}
