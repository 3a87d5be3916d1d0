import ManagedObjectModel
import PersistentStores

extension StoreInspection {
  /// Text for people: the store's kind, its entities with counts and properties, and anything unusual.
  public func text() -> String {
    var parts = [[store], entityTable, facts]
    let known = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let indexesOfTables = Dictionary(grouping: indexes, by: \.table)
    parts += entities.map { properties(of: $0, above: $0.superentity.flatMap { known[$0] }, indexesOfTables) }
    parts += [joinTableLines, otherLines, remarkLines]
    return parts.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") + "\n" }.joined(separator: "\n")
  }

  /// Replaces the values of the store's own metadata keys whose names look like those of secrets.
  package mutating func maskSecrets() {
    for key in metadata.ownKeys.keys {
      let name = key.lowercased()
      if Self.secretWords.contains(where: name.contains) { metadata.ownKeys[key] = "(not shown; see --show-values)" }
    }
  }
  private static let secretWords = [
    "token", "passw", "passphrase", "secret", "credential", "apikey", "api_key", "auth", "cookie", "session", "private",
    "signature",
  ]

  // MARK: The store as a whole

  private var facts: [String] {
    var rows: [[String]] = []
    if let file {
      let free = file.freePages > 0 ? ", \(file.freePages) of them free" : ""
      rows.append([
        "file",
        "\(file.bytes) bytes, \(file.pages) pages of \(file.pageSizeBytes)\(free), \(file.encoding), "
          + "journal \(file.journalMode), auto_vacuum \(file.autoVacuum)",
      ])
      if let wal = file.wal { rows.append(["-wal", "\(wal.bytes) bytes, \(wal.state), \(wal.frames) frames"]) }
      if let memory = file.sharedMemory { rows.append(["-shm", "\(memory.bytes) bytes, \(memory.state)"]) }
    }
    if let server {
      rows.append([
        "server",
        "PostgreSQL \(server.version), database \(server.database), \(server.encoding), \(server.bytes) bytes",
      ])
    }
    rows.append(["UUID", metadata.uuid ?? "unknown"])
    rows.append(["framework", metadata.frameworkVersion.map(String.init) ?? "unknown"])
    let identifiers = metadata.versionIdentifiers.filter { !$0.isEmpty }
    if !identifiers.isEmpty { rows.append(["version", identifiers.joined(separator: ", ")]) }
    if let version = metadata.hashesVersion { rows.append(["hashes", "version \(version)"]) }
    if let checksum = metadata.checksum { rows.append(["checksum", checksum]) }
    rows += metadata.ownKeys.sorted { $0.key < $1.key }.map { ["own key", "\($0.key) = \($0.value)"] }
    rows.append(["model", modelText])
    rows += (model?.notes ?? []).map { ["", $0] }
    if server == nil { rows.append(["model cache", modelCacheText]) }
    if let history {
      rows.append(["history", "\(history.transactions) transactions, \(history.changes) changes"])
    }
    if let externalData {
      rows.append([
        "large values", "\(externalData.files) files, \(externalData.bytes) bytes in \(externalData.folder)",
      ])
    }
    return TextColumns.lines(rows)
  }

  private var modelText: String {
    guard let model else { return "unknown" }
    let name = model.name ?? ""
    let origin =
      switch model.origin {
      case "file": "version \(name) of the file"
      case "embedded": "\(name), part of this program"
      case "cache": "the store's own model cache"
      default: "guessed from the tables"
      }
    switch model.isCompatible {
    case true: return origin + "; the store's"
    case false: return origin + "; not the store's, see below"
    default: return origin
    }
  }

  private var modelCacheText: String {
    if modelCache.bytes == 0 { return "none" }
    return "\(modelCache.bytes) bytes, \(modelCache.isReadable ? "readable" : "not readable")"
  }

  // MARK: Entities

  private var entityTable: [String] {
    if entities.isEmpty { return [] }
    let head = ["no.", "entity", "superentity", "table", "rows", "last key", "version hash", ""]
    let rows = entities.map { entity in
      [
        entity.number.map(String.init) ?? "-", entity.name + (entity.isAbstract == true ? " (abstract)" : ""),
        entity.superentity ?? "", entity.table ?? "missing", entity.rows.map(String.init) ?? "?",
        entity.superentity == nil ? entity.maximumKey.map(String.init) ?? "?" : "", entity.versionHash ?? "none",
        entity.hashFitsModel.map { $0 ? "" : "not the model's" } ?? "",
      ]
    }
    return TextColumns.lines([head] + rows, rightAligned: [0, 4, 5])
  }

  private func properties(of entity: Entity, above: Entity?, _ indexesOfTables: [String: [Index]]) -> [String] {
    // Inherited properties appear at the superentity.
    let inherited = Set((above?.attributes.map(\.name) ?? []) + (above?.relationships.map(\.name) ?? []))
    let attributes = entity.attributes.filter { !inherited.contains($0.name) }.map { attribute in
      [
        "  \(attribute.name)", attribute.type, attribute.isOptional ? "" : "mandatory", attribute.column ?? "transient",
      ]
    }
    let relationships = entity.relationships.filter { !inherited.contains($0.name) }.map { relationship in
      [
        "  \(relationship.name)",
        "\(relationship.isToMany ? relationship.isOrdered ? "to many, ordered:" : "to many:" : "to one:") "
          + relationship.destination, relationship.isOptional ? "" : "mandatory", Self.location(relationship),
      ]
    }
    let constraints = entity.uniquenessConstraints.map { "  unique: \($0.joined(separator: ", "))" }
    let ofTable = entity.table.flatMap { indexesOfTables[$0] } ?? []
    let own = ofTable.filter { $0.name.hasPrefix("Z_\(entity.name)_") || $0.name.hasPrefix("\(entity.table ?? "-")_") }
      .filter { (entity.superentity == nil || $0.name.hasPrefix("Z_\(entity.name)_")) }
      .map { "  \($0.isUnique ? "unique index" : "index") \($0.name) on \($0.columns.joined(separator: ", "))" }
    let lines = TextColumns.lines(attributes + relationships) + constraints + own
    let title = entity.name + (above.map { ", in addition to what \($0.name) has" } ?? "")
    return lines.isEmpty ? [] : [title] + lines
  }

  private static func location(_ relationship: Relationship) -> String {
    guard let table = relationship.table else { return "not kept" }
    return "\(table): \(relationship.columns.joined(separator: ", "))"
  }

  // MARK: The rest

  private var joinTableLines: [String] {
    if joinTables.isEmpty { return [] }
    return ["join tables"]
      + TextColumns.lines(joinTables.map { ["  \($0.table)", "\($0.rows.map(String.init) ?? "?") rows"] })
  }

  private var otherLines: [String] {
    if others.isEmpty { return [] }
    return ["not part of Core Data's layout"]
      + TextColumns.lines(
        others.map { other in
          let functions =
            other.unknownFunctions.isEmpty ? "" : "calls \(other.unknownFunctions.joined(separator: ", "))"
          let location = other.name == other.table ? "" : "on \(other.table)"
          return [
            "  \(other.type)", other.name, location,
            [other.purpose, functions].compactMap(\.self).joined(separator: " "),
          ]
        })
  }

  private var remarkLines: [String] {
    remarks.isEmpty ? [] : ["unusual"] + remarks.map { "  \($0.message)" }
  }
}

/// Lines of words in columns.
enum TextColumns {
  static func lines(_ rows: [[String]], rightAligned: Set<Int> = []) -> [String] {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      var line = ""
      for (column, text) in row.enumerated() where widths[column] > 0 {
        let padding = String(repeating: " ", count: widths[column] - text.count)
        line += (line.isEmpty ? "" : "  ") + (rightAligned.contains(column) ? padding + text : text + padding)
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}
