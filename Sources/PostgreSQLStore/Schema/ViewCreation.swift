import Foundation
import ManagedObjectModel
import PersistentStores

/// A view for each entity, for people and their tools: names as the model has them, in lower case, and dates as
/// `timestamptz`.
struct ViewCreation {
  private let schema: SQLSchema
  private let entities: [Int: NSEntityDescription]

  init(_ schema: SQLSchema, _ entities: [Int: NSEntityDescription]) {
    self.schema = schema
    self.entities = entities
  }

  var statements: [String] { named.map(statement) }

  /// The entities with the names of their views.
  private var named: [(entity: SQLEntity, description: NSEntityDescription, name: String)] {
    var used = Set(schema.tableNames.map { $0.lowercased() })
    return schema.entities.compactMap { entity in
      guard let description = entities[entity.number] else { return nil }
      return (entity, description, Self.unique(entity.name.lowercased(), in: &used))
    }
  }

  var names: [String] { named.map(\.name) }

  /// The columns that each view begins with.
  private static let firstColumns = ["id", "entity", "version"]

  /// Whether a view with this name and these columns is one of them. The name was longer if another program had it.
  func has(_ name: String, columns: [String]) -> Bool {
    var rest = name[...]
    guard columns.starts(with: Self.firstColumns) else { return false }
    let names = Set(names)
    while !names.contains(String(rest)) {
      guard rest.hasSuffix("_view") else { return false }
      rest = rest.dropLast("_view".count)
    }
    return true
  }

  private func statement(for entity: SQLEntity, _ description: NSEntityDescription, name: String) -> String {
    var used: Set<String> = []
    let first = zip(Self.firstColumns, ["\"Z_PK\"", names(of: entity), "\"Z_OPT\""])
    var columns = first.map { name, value in
      "\(value) AS \(Self.unique(name, in: &used).quotedName)"
    }
    for (slot, column) in entity.attributeColumns.enumerated() {
      guard let column else { continue }
      let attribute = description.attributeSlots[slot]
      columns.append(
        "\(Self.value(of: attribute, column.name.quotedName)) AS "
          + Self.unique(attribute.name.lowercased(), in: &used).quotedName)
    }
    for (relationship, kept) in entity.relationships.sorted(by: { String.byteOrder($0.key, $1.key) }) {
      guard case .toOne(let column, _, _) = kept else { continue }
      columns.append("\(column.quotedName) AS \(Self.unique(relationship.lowercased() + "_id", in: &used).quotedName)")
    }
    let numbers = entity.numbers.map(String.init).joined(separator: ", ")
    let condition = entity.hasFamily ? " WHERE \"Z_ENT\" IN (\(numbers))" : ""
    // A relation of another program may have the name.
    let view =
      "CREATE VIEW %I AS SELECT \(columns.joined(separator: ", ")) FROM \(entity.tableName.quotedName)\(condition)"
    return """
      DO $do$ DECLARE name text := \(name.quotedText); BEGIN \
      WHILE to_regclass(quote_ident(name)) IS NOT NULL LOOP name := name || '_view'; END LOOP; \
      EXECUTE format(\(view.replacingOccurrences(of: "%", with: "%%").replacingOccurrences(of: "%%I", with: "%I").quotedText), \
      name); END $do$
      """
  }

  /// The name of the row's entity.
  private func names(of entity: SQLEntity) -> String {
    guard entity.numbers.count > 1 else { return "\(entity.name.quotedText)::text" }
    let cases = entity.numbers.compactMap { number in
      schema.entity(numbered: number).map { "WHEN \(number) THEN \($0.name.quotedText)" }
    }
    return "(CASE \"Z_ENT\" \(cases.joined(separator: " ")) END)::text"
  }

  private static func value(of attribute: NSAttributeDescription, _ column: String) -> String {
    switch attribute.attributeType {
    // What timestamptz can express; 978307200 is 2001-01-01 in seconds since 1970.
    case .dateAttributeType:
      "CASE WHEN \(column) BETWEEN -2.1e11 AND 9.2e12 THEN to_timestamp(\(column) + 978307200) END"
    case .booleanAttributeType: "(\(column) <> 0)"
    case .UUIDAttributeType:
      "CASE WHEN length(\(column)) = 16 THEN encode(\(column), 'hex')::uuid END"
    default: column
    }
  }

  private static func unique(_ name: String, in used: inout Set<String>) -> String {
    var candidate = name
    while !used.insert(candidate).inserted { candidate += "_" }
    return candidate
  }
}
