import Locking
import OpenCoreData

/// Reads the entries of the store and digests them, on the queue of its own context, while another thread adds the
/// digests to the index.
struct StoreWalk: Sendable {
  typealias Batch = (digests: RowDigests, keys: [Int64])

  private static let rowsPerBatch = 5000
  private static let batchesAheadMax = 2

  private let context: NSManagedObjectContext
  private let entity: NSEntityDescription

  init(_ context: NSManagedObjectContext, _ entity: NSEntityDescription) {
    self.context = context
    self.entity = entity
  }

  /// Subentities are excluded.
  ///
  /// - Returns: Digests with their entries' primary keys, or what ended the walk early. Abandoning the queue ends the
  ///   walk.
  func start(_ digester: RowDigester) -> BoundedQueue<Result<Batch, any Error>> {
    let queue = BoundedQueue<Result<Batch, any Error>>(capacity: Self.batchesAheadMax)
    let (context, entity) = (context, entity)
    context.perform {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      request.includesSubentities = false
      do {
        try context.walk(request, attributes: digester.attributes(of: entity), rowsPerBatch: Self.rowsPerBatch) {
          batch, ids in
          queue.send(.success((digester.digests(of: batch), ids.indices.map { ids.key(at: $0) ?? 0 })))
        }
      } catch {
        _ = queue.send(.failure(error))
      }
      queue.finish()
    }
    return queue
  }
}
