import ManagedObjectModel

extension MigrationRun {
  /// Marks the files that no row has any more, because their attribute or entity was removed. Called while the old tables
  /// stand aside. The opening that migrates removes them after the commit.
  func markReleasedFiles() throws {
    guard let folder = largeValues else { return }
    let old = ExternalSlots(Self.entities(source, mapping.sourceModel.entitiesByName)).columns(in: source)
    guard !old.isEmpty else { return }
    let new = ExternalSlots(Self.entities(destination, destinationEntities)).columns(in: destination)
    let former = old.map { ExternalColumn(table: MigrationPlan.oldTableName($0.table), column: $0.column) }
    let released = try connection.externalFiles(in: former).subtracting(connection.externalFiles(in: new))
    released.forEach(folder.mark(released:))
  }

  private static func entities(
    _ schema: SQLSchema, _ byName: [String: NSEntityDescription]
  ) -> [Int: NSEntityDescription] {
    Dictionary(
      schema.entities.compactMap { entity in byName[entity.name].map { (entity.number, $0) } },
      uniquingKeysWith: { first, _ in first })
  }
}
