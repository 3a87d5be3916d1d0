import ManagedObjectModel

extension SQLiteStore {
  /// Whether triggers, of the file or of this connection, may compute columns when a row changes.
  var computesColumns: Bool { schema.hasDerivations || !computedTables.isEmpty }

  /// Lets the store's own connection compute the derived attributes for which the file has no triggers.
  func computeDerivedColumns(_ connection: SQLiteConnection) throws {
    guard !isReadOnly, schema.entities.contains(where: { !$0.computedSlots.isEmpty }) else { return }
    computedTables = []
    let triggers = try connection.derivationTriggers().map(\.name)
    let computed = ComputedColumns(schema.entities)
    for entity in schema.entities {
      guard let described = idSpaces[entity.number]?.entity else { continue }
      for column in computed.columns(of: described) where !column.isKept(by: triggers) {
        for trigger in column.triggers { try connection.execute(trigger) }
        computedTables.formUnion(column.tables)
      }
    }
  }
}
