import Foundation

/// The columns of a pipeline, compiled for parsing.
package struct ColumnSet: Sendable {
  /// In the order of the definition; a parser's `column` is its index here.
  package let parsers: [FieldParser]
  /// The rules for whole records, in the order of the definition.
  package let recordChecks: [RecordCheck]

  /// Compiles the columns of a definition.
  ///
  /// - Parameters:
  ///   - definition: the pipeline.
  ///   - types: the type of each attribute of the entity, by name.
  ///   - now: the clock of the rule `notInFuture`, read once so that a run validates all its records alike.
  /// - Throws: `PipelineError` with every mistake: attributes that the entity lacks, rules that do not apply to their
  ///   type, rules for records that name no column.
  package init(
    _ definition: PipelineDefinition, types: [String: ColumnType], now: Date = Date()
  ) throws(PipelineError) {
    var parsers: [FieldParser] = []
    var mistakes: [PipelineError.Mistake] = []
    let notation = FieldNotation(definition)
    for (index, column) in definition.columns.enumerated() {
      let path = "columns[\(index)]"
      guard let type = types[column.attribute] else {
        // What a link lacks is found with the model's relationships.
        if column.relatedAttribute != nil { continue }
        let names = types.keys.filter { !$0.contains(".") }.sorted()
        let hint = NearestName.hint(for: column.attribute, in: names)
        let text =
          "\(definition.entity) has no attribute '\(column.attribute)' that a column can fill; "
          + "it has \(ObjectReader.list(names))\(hint)"
        mistakes.append(PipelineError.Mistake(path: path, message: text))
        continue
      }
      do {
        let seconds = now.timeIntervalSinceReferenceDate
        parsers.append(
          try FieldParser(
            column, type: type, column: index, now: seconds, path: path,
            dateFormats: definition.vocabulary.dateFormats,
            keepsEmptyText: definition.dialect.keepsEmptyText, notation: notation))
      } catch {
        mistakes += error.mistakes
      }
    }
    var compiler = RecordRuleCompiler(definition.columns, types: types)
    recordChecks = definition.recordRules.enumerated().compactMap {
      compiler.check($1, path: "recordRules[\($0)]")
    }
    mistakes += compiler.mistakes
    if !mistakes.isEmpty { throw PipelineError(mistakes: mistakes) }
    self.parsers = parsers
  }

  private init(_ parsers: [FieldParser], _ other: ColumnSet) {
    (self.parsers, recordChecks) = (parsers, other.recordChecks)
  }

  /// The same columns, some of them read by other parsers, which are given by their columns.
  package func replacing(_ changed: [Int: FieldParser]) -> ColumnSet {
    changed.isEmpty ? self : ColumnSet(parsers.map { changed[$0.column] ?? $0 }, self)
  }

  /// The same columns without some date formats, which are given as their texts by the column's name.
  package func excluding(_ formats: [String: [String]]) -> ColumnSet {
    let changed = parsers.compactMap { parser in
      formats[parser.definition.name].map { (parser.column, parser.excluding(texts: Set($0))) }
    }
    return replacing(Dictionary(changed, uniquingKeysWith: { first, _ in first }))
  }

  /// The same columns for JSON Lines.
  package var forJSONLines: ColumnSet { ColumnSet(parsers.map(\.forJSONLines), self) }

  /// The same columns for a store that does not keep NUL characters.
  ///
  /// - Parameter areRead: Whether NUL bytes of an input are read as characters.
  /// - Throws: `PipelineError` for a constant or default that has one.
  package func refusingNul(areRead: Bool) throws(PipelineError) -> ColumnSet {
    var refusing: [FieldParser] = []
    for parser in parsers {
      refusing.append(try parser.refusingNul(areRead: areRead, path: "columns[\(parser.column)]"))
    }
    return ColumnSet(refusing, self)
  }

  package var definitions: [ColumnDefinition] { parsers.map(\.definition) }
}
