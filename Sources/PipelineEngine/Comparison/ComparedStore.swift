import Foundation
import OpenCoreData

/// A store that is compared: opened for reading, and read twice in one state.
struct ComparedStore {
  /// The path or the address of the store, for messages.
  let path: String
  private let container: NSPersistentContainer
  private let entity: NSEntityDescription
  private let context: NSManagedObjectContext
  private static let rowsPerBatch = 5000

  init(
    _ path: String, definition: PipelineDefinition, model: NSManagedObjectModel, entity: NSEntityDescription,
    timeoutSeconds: Double
  ) throws(RunFailure) {
    let store = StoreLocation(path)
    guard store.exists else { throw RunFailure(noStore: store.shown) }
    try RunFailure.checkKind(ofStore: path)
    self.path = store.shown
    let url = try store.url()
    self.entity = entity
    container = NSPersistentContainer(name: definition.modelName, managedObjectModel: model)
    context = container.newBackgroundContext()
    context.name = "comparison"
    do {
      _ = try container.persistentStoreCoordinator.addPersistentStore(
        ofType: store.type, configurationName: nil, at: url,
        options: [
          NSReadOnlyPersistentStoreOption: NSNumber(value: true),
          NSPersistentStoreTimeoutOption: NSNumber(value: timeoutSeconds),
        ])
      // What another program saves between the two readings is not seen.
      try context.performAndWait { try context.setQueryGenerationFrom(.current) }
    } catch {
      throw RunFailure(store: error as NSError, path: store.path)
    }
  }

  /// Closes the file.
  func close() {
    let coordinator = container.persistentStoreCoordinator
    context.performAndWait { try? context.setQueryGenerationFrom(nil) }
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
  }

  /// Reads every entry, without those of subentities, which an import does not compare with either. `body` returns
  /// false to end it.
  ///
  /// - Parameter links: What columns lead to; nil for a pipeline without links.
  func read(_ attributes: Set<String>, with links: ComparedLinks?, _ body: (ComparedRows) throws -> Bool) throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
    request.includesSubentities = false
    try context.performAndWait {
      let own = links?.ownAttributes(attributes) ?? attributes
      try context.walk(request, attributes: own, rowsPerBatch: Self.rowsPerBatch) { batch, ids in
        try body(
          ComparedRows(
            batch: try links?.rows(batch, Array(ids), in: context) ?? batch,
            numbers: ids.indices.map { ids.key(at: $0) ?? 0 },
            lines: Array(repeating: 0, count: batch.count)))
      }
    }
  }
}
