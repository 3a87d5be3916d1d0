import SystemSupport
import OpenCoreData

/// Reads the entries of the store and digests them, on the queue of its own context, while another thread adds the
/// digests to the index.
struct StoreWalk: Sendable {
  typealias Batch = (digests: RowDigests, keys: [Int64])

  private static let rowsPerBatch = 5000
  private static let batchesAheadMax = 2

  private let context: NSManagedObjectContext
  private let entity: NSEntityDescription
  private let join: Join

  /// Joins what entries with these IDs lead to to the digests of their own attributes. Called on the context's queue.
  typealias Join = @Sendable (inout [KeyDigest], [NSManagedObjectID], NSManagedObjectContext) throws -> Void

  init(
    _ context: NSManagedObjectContext, _ entity: NSEntityDescription, joining join: @escaping Join = { _, _, _ in }
  ) {
    self.context = context
    self.entity = entity
    self.join = join
  }

  /// Subentities are excluded.
  ///
  /// - Returns: Digests with their entries' primary keys, or what ended the walk early. Abandoning the queue ends the
  ///   walk.
  func start(_ digester: RowDigester) -> BoundedQueue<Result<Batch, any Error>> {
    let queue = BoundedQueue<Result<Batch, any Error>>(capacity: Self.batchesAheadMax)
    let (context, entity, join) = (context, entity, join)
    context.perform {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      request.includesSubentities = false
      do {
        try context.walk(request, attributes: digester.attributes(of: entity), rowsPerBatch: Self.rowsPerBatch) {
          batch, ids in
          var digests = digester.digests(of: batch)
          if !digester.linksOfWhole.isEmpty { try join(&digests.keys, Array(ids), context) }
          return queue.send(.success((digests, ids.indices.map { ids.key(at: $0) ?? 0 })))
        }
      } catch {
        _ = queue.send(.failure(error))
      }
      queue.finish()
    }
    return queue
  }
}
