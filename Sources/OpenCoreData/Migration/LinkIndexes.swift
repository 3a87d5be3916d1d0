import PersistentStores

/// The indexes of columns that the second pass fills before any code of the client looks at them there. In the first pass
/// each new row would get an entry without a key, which the second pass would remove again.
///
/// They are left out when a table has many rows, and made again at the latest before the destination context reads from its
/// store.
final class LinkIndexes {
  private let destination: SQLiteStore?
  // Unowned: the manager holds it as long as the migration runs.
  private unowned let context: NSManagedObjectContext
  private var candidates: [LinkColumn] = []
  private var leftOut: Set<LinkColumn> = []

  /// Nothing is left out of a store of another kind.
  init(_ migration: CustomMigration) throws {
    context = migration.destinationContext
    destination = migration.destinationStore as? SQLiteStore
    for step in migration.steps {
      if step.mayLookAtLinks { break }
      candidates += try KeyedLinks(step, of: migration)?.parts.map(\.changes.column) ?? []
    }
  }

  /// Called in the first pass when rows were saved.
  func leaveOut() throws {
    guard let destination, !candidates.isEmpty else { return }
    var rest: [LinkColumn] = []
    for column in candidates {
      switch try destination.deferIndex(of: column) {
      case true?: leftOut.insert(column)
      case false?: break
      case nil: rest.append(column)
      }
    }
    candidates = rest
    if !leftOut.isEmpty { context.beforeReading = { [unowned self] in try restore() } }
  }

  func includes(_ column: LinkColumn) -> Bool { leftOut.contains(column) }

  /// Makes the indexes that are left out. From now on none is.
  func restore() throws {
    candidates = []
    endFirstPass()
    guard !leftOut.isEmpty else { return }
    leftOut = []
    try destination?.restoreIndexes()
  }

  /// From now on the context does not look for missing indexes: only the migration itself reads.
  func endFirstPass() { context.beforeReading = nil }
}
