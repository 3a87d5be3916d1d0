/// A column whose values use the marker of external values.
struct ExternalColumn: Hashable {
  let table: String
  let column: String
}

extension ExternalSlots {
  /// Each column once, even if several entities share the table.
  func columns(in schema: SQLSchema) -> [ExternalColumn] {
    var seen: Set<ExternalColumn> = []
    return entityNumbers.compactMap { schema.entity(numbered: $0) }.flatMap { entity in
      self[entity.number].compactMap { slot in
        entity.attributeColumns[slot].map { ExternalColumn(table: entity.tableName, column: $0.name) }
      }
    }.filter { seen.insert($0).inserted }
  }
}

extension SQLiteConnection {
  /// The names of the files that the values of these columns are in.
  func externalFiles(in columns: [ExternalColumn]) throws -> Set<String> {
    var names: Set<String> = []
    for one in columns {
      let found = try rows(
        "SELECT \(one.column) FROM \(one.table) WHERE length(\(one.column)) = \(ExternalData.referenceLength) "
          + "AND substr(\(one.column), 1, 1) = x'02'")
      for case .blob(let bytes)? in found.map(\.first) {
        if let name = ExternalData.name(in: bytes) { names.insert(name) }
      }
    }
    return names
  }
}
