import Foundation
import OpenCoreData

/// The parts of a pipeline as a Data Package: a resource for each, with foreign keys for the links between them.
struct DataPackage {
  private struct Document: Encodable {
    var name: String
    var description: String?
    /// Only pipelines know these two keys.
    var model: String?
    var store: String?
    var resources: [Resource]
  }

  private struct Resource: Encodable {
    var name: String
    /// Left out if the files are said by a pattern, or not at all.
    var path: String?
    /// Only pipelines know this key.
    var entity: String
    var encoding: String?
    var dialect: JSONValue?
    /// Only pipelines know this key.
    var duplicates: JSONValue?
    var schema: TableSchema.Document
  }

  private let definition: PipelineDefinition
  private let parts: [PipelineDefinition]
  private let entities: [NSEntityDescription]
  private let names: [String]
  private var omissions: [String] = []

  private init(_ definition: PipelineDefinition, _ entities: [NSEntityDescription]) {
    self.definition = definition
    self.entities = entities
    parts = definition.imports
    names = Self.names(of: parts)
  }

  /// - Parameter entities: The entity of each part.
  static func schema(_ definition: PipelineDefinition, _ entities: [NSEntityDescription]) throws -> TableSchema {
    var maker = Self(definition, entities)
    let document = Document(
      name: slug(definition.name), description: definition.description, model: definition.model,
      store: definition.store, resources: entities.indices.map { maker.resource($0) })
    return try TableSchema(document) { maker.omissions }
  }

  private mutating func resource(_ index: Int) -> Resource {
    let part = parts[index]
    var writer = TableSchema.Writer(part, subject: "the schema of '\(names[index])'")
    var resource = Resource(
      name: names[index], path: Self.path(of: part), entity: part.entity, encoding: part.dialect.encoding,
      dialect: Self.dialect(part.dialect),
      duplicates: part.duplicates == .reject ? nil : PipelineDefinition.json(part.duplicates),
      schema: writer.document(entities[index]))
    if resource.path == nil, !part.source.isEmpty || part.inbox != nil {
      writer.omit("where its files are; add their 'path'")
    }
    omissions += writer.omissions
    let keys = part.linkedColumns.compactMap { foreignKey($0, of: index, &resource.schema.fields) }
    if !keys.isEmpty { resource.schema.foreignKeys = keys }
    return resource
  }

  /// The foreign key of a link, whose fields do not say it again; nil for a link that a foreign key can't say.
  private mutating func foreignKey(
    _ group: LinkedColumns, of index: Int, _ fields: inout [TableSchema.Field]
  ) -> TableSchema.ForeignKey? {
    let columns = parts[index].columns
    let destination = entities[index].relationshipsByName[group.relationship]?.destinationEntity?.name
    let target = parts.firstIndex { $0.entity == destination }
    let own = group.link.by.compactMap { name in
      group.columns.first { $0.attribute == name && columns[$0.index].value == nil }.map { columns[$0.index].name }
    }
    let others = group.link.by.compactMap { name in
      target.flatMap { parts[$0].columns.first { $0.attribute == name && $0.value == nil }?.name }
    }
    guard let target, target != index, group.link.ifMissing == .reject, group.link.separator == nil,
      own.count == group.link.by.count, others.count == own.count
    else {
      let shown = group.columns.map { "'\(columns[$0.index].name)'" }.joined(separator: ", ")
      omissions.append(
        "no foreign key can express the link of \(shown) in '\(names[index])'; its key 'link' is for pipelines only")
      return nil
    }
    for field in fields.indices where own.contains(fields[field].name) {
      (fields[field].attribute, fields[field].link) = (nil, nil)
    }
    return TableSchema.ForeignKey(
      fields: own, reference: .init(resource: names[target], fields: others),
      relationship: ForeignKey.relationship(of: own[0]) == group.relationship ? nil : group.relationship)
  }

  // MARK: Names

  private static func names(of parts: [PipelineDefinition]) -> [String] {
    var names: [String] = []
    for part in parts {
      let file = path(of: part).map { URL(fileURLWithPath: $0).lastPathComponent.prefix { $0 != "." } }
      let name = slug(file.map(String.init) ?? part.entity)
      var number = 1
      var free = name
      while names.contains(free) {
        number += 1
        free = "\(name)-\(number)"
      }
      names.append(free)
    }
    return names
  }

  /// The only file of a part.
  private static func path(of part: PipelineDefinition) -> String? {
    guard part.source.count == 1, let path = part.source.first, path != "-",
      !path.contains(where: { "*?[".contains($0) })
    else { return nil }
    return path
  }

  /// A name as the standard allows it: lowercase letters, digits, `.`, `_` and `-`.
  private static func slug(_ text: String) -> String {
    String(text.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) || "._-".contains($0) ? $0 : "-" })
  }

  /// What of a dialect differs from RFC 4180 and is not said elsewhere.
  private static func dialect(_ dialect: DialectDefinition) -> JSONValue? {
    guard case .object(var members) = PipelineDefinition.json(dialect),
      case .object(let usual) = PipelineDefinition.json(DialectDefinition.rfc4180)
    else { return nil }
    for key in [
      "name", "encoding", "decimalChar", "groupChar", "trueValues", "falseValues", "nullSequences", "null",
      "fieldsMatch",
    ] { members[key] = nil }
    members = members.filter { usual[$0.key] != $0.value }
    if let quote = members.removeValue(forKey: "quote") { members["quoteChar"] = quote }
    return members.isEmpty ? nil : .object(members)
  }
}
