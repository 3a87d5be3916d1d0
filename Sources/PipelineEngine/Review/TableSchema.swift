import Foundation
import OpenCoreData

/// A pipeline's columns as a Table Schema of the frictionless standards, or those of its parts as a Data Package with
/// foreign keys, as far as these can say them.
public struct TableSchema: Sendable {
  /// The schema or the package, indented, with sorted keys and a line break at its end.
  public let json: Data
  /// What it leaves out; one sentence each.
  public let omissions: [String]

  /// The schema of one table.
  struct Document: Encodable {
    var fields: [Field]
    var missingValues: [String]?
    var primaryKey: [String]?
    var foreignKeys: [ForeignKey]?
    var fieldsMatch: [String]?
  }

  /// Fields that have the values of fields of another resource.
  struct ForeignKey: Encodable {
    struct Reference: Encodable {
      var resource: String
      var fields: [String]
    }

    var fields: [String]
    var reference: Reference
    /// The name of the relationship, if the fields do not show it.
    var relationship: String?
  }

  struct Field: Encodable {
    var name: String
    var type: String
    var format: String?
    var decimalChar: String?
    var groupChar: String?
    var trueValues: [String]?
    var falseValues: [String]?
    var constraints: [String: JSONValue]?
    /// The attribute, if it has another name. Only pipelines know this key and the next.
    var attribute: String?
    var link: LinkDefinition?
  }

  /// The schema of a pipeline of one entity.
  init(_ definition: PipelineDefinition, _ entity: NSEntityDescription) throws {
    var writer = Writer(definition, subject: "the schema")
    try self.init(writer.document(entity), omissions: { writer.omissions })
  }

  init(_ document: some Encodable, omissions: () -> [String]) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    json = try encoder.encode(document) + Data("\n".utf8)
    self.omissions = omissions()
  }

  /// Makes the schema of one table and collects what it can't say.
  struct Writer {
    let definition: PipelineDefinition
    /// What omissions are said of.
    let subject: String
    private(set) var omissions: [String] = []

    init(_ definition: PipelineDefinition, subject: String) { (self.definition, self.subject) = (definition, subject) }

    mutating func omit(_ what: String) { omissions.append("\(subject) leaves out \(what)") }

    mutating func document(_ entity: NSEntityDescription) -> Document {
      let columns = definition.columns.filter { $0.value == nil }
      var document = Document(
        fields: columns.map { field($0, $0.link?.separator == nil ? entity.columnType(of: $0) ?? .text : .text) })
      let dialect = definition.dialect
      if !dialect.nullSequences.isEmpty { document.missingValues = dialect.nullSequences }
      if !definition.key.isEmpty {
        document.primaryKey = definition.key.map { key in columns.first { $0.attribute == key }?.name ?? key }
      }
      document.fieldsMatch = dialect.fieldsMatch.map { [$0.rawValue] }
      if !definition.recordRules.isEmpty { omit("the rules for records") }
      if columns.count < definition.columns.count { omit("the columns with a constant value") }
      return document
    }

    private mutating func field(_ column: ColumnDefinition, _ type: ColumnType) -> Field {
      var field = Field(name: column.name, type: "string")
      if column.attribute != column.name { field.attribute = column.attribute }
      field.link = column.link
      switch type {
      case .text: break
      case .integer: field.type = "integer"
      case .real, .single, .decimal: field.type = "number"
      case .boolean:
        field.type = "boolean"
        let dialect = definition.dialect
        field.trueValues = dialect.trueValues.isEmpty ? ["true", "yes", "1"] : dialect.trueValues
        field.falseValues = dialect.falseValues.isEmpty ? ["false", "no", "0"] : dialect.falseValues
      case .date: writeFormat(column, &field)
      case .uuid: field.format = "uuid"
      case .uri: field.format = "uri"
      case .binary, .archive: field.format = "binary"
      }
      if type.isNumber {
        if definition.dialect.decimalChar != "." { field.decimalChar = definition.dialect.decimalChar }
        field.groupChar = definition.dialect.groupChar
      }
      let constraints = column.rules.reduce(into: [:]) { found, rule in
        found.merge(constraint(rule, of: column)) { first, _ in first }
      }
      if !constraints.isEmpty { field.constraints = constraints }
      if !column.transforms.isEmpty { omit("the transforms of '\(column.name)'") }
      if !column.synonyms.isEmpty { omit("the synonyms of '\(column.name)'") }
      if !column.from.isEmpty { omit("the labels that '\(column.name)' is made from") }
      return field
    }

    private mutating func writeFormat(_ column: ColumnDefinition, _ field: inout Field) {
      field.type = "datetime"
      field.format = "any"
      if column.formats.count > 1 { omit("all formats of '\(column.name)' but the first") }
      guard let name = column.formats.first,
        let format = try? DateFormat(name, named: definition.vocabulary.dateFormats),
        let directives = StrftimePattern.directives(format)
      else { return }
      field.format = directives
      if !StrftimePattern.hasTime(format) { field.type = "date" }
    }

    private mutating func constraint(_ rule: ValueRule, of column: ColumnDefinition) -> [String: JSONValue] {
      guard rule.severity == .error else {
        omit("the rule '\(rule.name)' of '\(column.name)', which is only a warning")
        return [:]
      }
      var found: [String: JSONValue] = [:]
      switch rule.kind {
      case .required: found["required"] = .bool(true)
      case .unique: found["unique"] = .bool(true)
      case .notBefore(let date): found["minimum"] = .string(date)
      case .notAfter(let date): found["maximum"] = .string(date)
      case .range(let min, let max):
        found["minimum"] = min.map { .number($0) }
        found["maximum"] = max.map { .number($0) }
      case .length(let min, let max):
        found["minLength"] = min.map { .number(Double($0)) }
        found["maxLength"] = max.map { .number(Double($0)) }
      case .oneOf(let values): found["enum"] = .array(values.map { .string($0) })
      case .pattern(let pattern): found["pattern"] = .string(pattern)
      case .notInFuture, .notOneOf, .format, .quantity: omit("the rule '\(rule.name)' of '\(column.name)'")
      }
      return found
    }
  }
}
