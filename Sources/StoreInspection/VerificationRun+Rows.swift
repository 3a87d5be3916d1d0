import ManagedObjectModel
import PersistentStores
import Foundation

/// Checks of the rows of entities and of their values.
extension VerificationRun {
  mutating func checkRows(_ entities: [VerifiedEntity]) throws {
    let families = Dictionary(grouping: entities, by: \.sql.rootNumber)
    for root in entities where root.isRoot {
      guard has(root.sql.tableName, ["Z_PK", "Z_ENT", "Z_OPT"]) else {
        add(
          "tableMissing", entity: root.name, table: root.sql.tableName,
          "The table \(root.sql.tableName) of \(root.name) does not exist, or is not a table of Core Data.",
          advice: "Give the version of the model that the store was made with.")
        continue
      }
      let members = families[root.sql.number] ?? []
      let numbers = members.filter { !$0.entity.isAbstract }.map { String($0.sql.number) }.joined(separator: ", ")
      let names = members.map { "\($0.sql.number) \($0.name)" }.joined(separator: ", ")
      try find(
        [
          RowCheck(
            "entityNumber", where: "t.Z_ENT IS NULL OR t.Z_ENT NOT IN (\(numbers))",
            "rows have a Z_ENT that is not a concrete entity of this table",
            advice: "Set Z_ENT to the number of their entity (\(names))."),
          RowCheck(
            "version",
            where: "t.Z_OPT IS NULL OR t.Z_OPT < 1" + (store.server == nil ? " OR typeof(t.Z_OPT) <> 'integer'" : ""),
            "rows have no Z_OPT of 1 or more, so their changes can't be detected", advice: "Set it to 1."
          ),
        ], root)
      for member in members { checkColumns(member) }
    }
    for table in store.joinTables where !has(table.name, table.columns) {
      add(
        "tableMissing", table: table.name, "The join table \(table.name) does not exist, or has other columns.",
        advice: "Give the version of the model that the store was made with.")
    }
  }

  private mutating func checkColumns(_ entity: VerifiedEntity) {
    let columns = entity.sql.attributeColumns.compactMap { $0?.name }.filter { !has(entity.sql.tableName, [$0]) }
    for column in columns {
      add(
        "columnMissing", entity: entity.name, table: entity.sql.tableName,
        "The table has no column \(column).", advice: "Give the version of the model that the store was made with.")
    }
  }

  mutating func checkValues(_ entities: [VerifiedEntity]) throws {
    for entity in entities where !entity.entity.isAbstract {
      let pairs = zip(entity.entity.attributeSlots, entity.sql.attributeColumns)
      let checks = pairs.flatMap { attribute, column -> [RowCheck] in
        guard let column, has(entity.sql.tableName, [column.name]) else { return [] }
        return valueChecks(attribute, column: "t.\(column.name.quotedName)", of: entity)
      }
      try find(checks, entity)
    }
  }

  private func valueChecks(
    _ attribute: NSAttributeDescription, column: String, of entity: VerifiedEntity
  ) -> [RowCheck] {
    var checks: [RowCheck] = []
    if !attribute.isOptional {
      checks.append(
        RowCheck(
          "valueMissing", property: attribute.name, where: "\(entity.isOwn) AND \(column) IS NULL",
          "objects have no value, but the model requires one",
          advice: "Give them one; objects can't be changed and saved while it is missing."))
    }
    if store.server == nil, [.stringAttributeType, .URIAttributeType].contains(attribute.attributeType) {
      checks.append(
        RowCheck(
          "textBytes", property: attribute.name,
          where: "\(entity.isOwn) AND typeof(\(column)) = 'text' "
            + "AND \(SQLiteConnection.plainTextFunction)(\(column)) = 0",
          "texts contain a NUL or bytes that are not UTF-8",
          advice: "Correct the program that wrote them, and set the values again."))
    }
    let wrong = store.server == nil ? Self.wrongStorage(attribute, column) : Self.wrongValue(attribute, column)
    if let wrong {
      checks.append(
        RowCheck(
          "valueType", property: attribute.name,
          where: "\(entity.isOwn) AND \(column) IS NOT NULL AND (\(wrong))",
          "values can't be of the type \(attribute.attributeType.editorName)",
          advice: "Correct the program that wrote them, and set the values again."))
    }
    return checks
  }

  /// The condition for values that are invalid for the attribute's type. Dates and numbers may be stored as integers,
  /// as columns have numeric affinity.
  private static func wrongStorage(_ attribute: NSAttributeDescription, _ column: String) -> String? {
    let type = "typeof(\(column))"
    switch attribute.attributeType {
    case .booleanAttributeType: return "\(type) <> 'integer' OR \(column) NOT IN (0, 1)"
    case .integer16AttributeType: return "\(type) <> 'integer' OR \(column) NOT BETWEEN -32768 AND 32767"
    case .integer32AttributeType: return "\(type) <> 'integer' OR \(column) NOT BETWEEN -2147483648 AND 2147483647"
    case .integer64AttributeType: return "\(type) <> 'integer'"
    case .dateAttributeType:
      return "\(type) NOT IN ('integer', 'real') OR \(column) IN (9e999, -9e999)"
    case .doubleAttributeType, .floatAttributeType, .decimalAttributeType:
      return "\(type) NOT IN ('integer', 'real')"
    case .stringAttributeType, .URIAttributeType: return "\(type) <> 'text'"
    case .UUIDAttributeType: return "\(type) <> 'blob' OR length(\(column)) <> 16"
    case .binaryDataAttributeType, .transformableAttributeType: return "\(type) <> 'blob'"
    case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: return nil
    }
  }

  /// The condition for values that the type of a server's column allows, and the attribute's does not.
  private static func wrongValue(_ attribute: NSAttributeDescription, _ column: String) -> String? {
    switch attribute.attributeType {
    case .booleanAttributeType: "\(column) NOT IN (0, 1)"
    case .dateAttributeType: "\(column) IN ('Infinity', '-Infinity', 'NaN')"
    case .doubleAttributeType, .floatAttributeType, .decimalAttributeType: "\(column) = 'NaN'"
    case .UUIDAttributeType: "length(\(column)) <> 16"
    default: nil
    }
  }

  mutating func checkUniqueness(_ entities: [VerifiedEntity]) throws {
    for entity in entities {
      let properties = entity.entity.propertiesByName
      for names in entity.entity.uniquenessConstraintNames {
        let columns = names.compactMap { name -> String? in
          guard let property = properties[name] else { return nil }
          if property is NSAttributeDescription {
            return entity.entity.slot(named: name).flatMap { entity.sql.attributeColumns[$0]?.name }
          }
          guard case .toOne(let column, _, _)? = entity.sql.relationships[name] else { return nil }
          return column
        }
        guard columns.count == names.count, has(entity.sql.tableName, columns) else { continue }
        let same = columns.map { "o.\($0.quotedName) = t.\($0.quotedName)" }.joined(separator: " AND ")
        let ofEntity = "Z_ENT IN (\(entity.numbers))"
        // Grouping finds the values in one pass; comparing row by row would need an index.
        let list = columns.map(\.quotedName).joined(separator: ", ")
        let filled = columns.map { "\($0.quotedName) IS NOT NULL" }.joined(separator: " AND ")
        let doubled =
          "SELECT \(list) FROM \(entity.table) WHERE \(ofEntity) AND \(filled) GROUP BY \(list) HAVING count(*) > 1"
        let found = try rows(in: "(\(doubled)) o JOIN \(entity.table) t ON \(same)", where: "t.\(ofEntity)")
        guard let found else {
          try checkUniqueIndex(entity, names, columns: columns)
          continue
        }
        add(
          "notUnique", entity: entity.name, property: names.joined(separator: ", "), table: entity.sql.tableName,
          count: found.count, keys: found.keys,
          "\(found.count) objects share their \(names.joined(separator: ", ")) with another; the model requires "
            + "unique values.",
          advice:
            "Delete or change all but one of each, and make the index \("Z_\(entity.name)_UNIQUE_\(names.joined(separator: "_"))") if it is missing."
        )
      }
    }
  }

  /// Values that are unique today stay so only with an index.
  private mutating func checkUniqueIndex(_ entity: VerifiedEntity, _ names: [String], columns: [String]) throws {
    let expected = Set(columns.map { $0.uppercased() })
    let isThere = try uniqueIndexes(of: entity.sql.tableName).contains { found in
      found == expected || found == expected.union(["Z_ENT"])
    }
    guard !isThere else { return }
    let index = "Z_\(entity.name)_UNIQUE_\(names.joined(separator: "_"))"
    add(
      "uniqueIndexMissing", entity: entity.name, property: names.joined(separator: ", "), table: entity.sql.tableName,
      "No unique index is on \(columns.joined(separator: ", ")): nothing prevents a second object with equal "
        + "values.", advice: "Create the index \(index), or restore the \(whole) from a copy.")
  }

  /// The columns of each unique index.
  private func uniqueIndexes(of table: String) throws -> [Set<String>] {
    if let server = store.server {
      return try server.indexes().filter { $0.table == table && $0.isUnique }
        .map { Set($0.columns.map { $0.uppercased() }) }
    }
    let indexed = try store.connection.rows(
      "SELECT l.name, upper(i.name) FROM pragma_index_list(?) l, pragma_index_info(l.name) i WHERE l.\"unique\" = 1",
      [.text(table)])
    return Dictionary(grouping: indexed, by: { $0[0] }).values.map { Set($0.compactMap { $0[1].string }) }
  }

  /// Adds a finding for each check that matches rows of the entity's table: one pass counts them all.
  mutating func find(_ checks: [RowCheck], _ entity: VerifiedEntity) throws {
    var rest = checks[...]
    while !rest.isEmpty {
      // SQLite allows 2000 columns in a result.
      let some = rest.prefix(500)
      rest = rest.dropFirst(some.count)
      let sums = some.map { "count(*) FILTER (WHERE \($0.condition))" }.joined(separator: ", ")
      let counts = try store.connection.rows("SELECT \(sums) FROM \(entity.table) t").first ?? []
      for (check, count) in zip(some, counts) {
        guard count != .integer(0), let found = try rows(in: "\(entity.table) t", where: check.condition) else {
          continue
        }
        let subject = check.property.map { "\(entity.name).\($0)" } ?? entity.name
        add(
          check.code, severity: check.severity, entity: entity.name, property: check.property,
          table: entity.sql.tableName, count: found.count,
          keys: found.keys, "\(subject): \(found.count) \(check.what).", advice: check.advice)
      }
    }
  }
}

/// A condition for rows `t` of an entity's table, and the problem of the rows that match it.
struct RowCheck {
  let code: String
  let severity: StoreVerification.Severity
  let property: String?
  let condition: String
  let what: String
  let advice: String

  init(
    _ code: String, severity: StoreVerification.Severity = .error, property: String? = nil, where condition: String,
    _ what: String, advice: String
  ) {
    self.code = code
    self.severity = severity
    self.property = property
    self.condition = condition
    self.what = what
    self.advice = advice
  }
}
