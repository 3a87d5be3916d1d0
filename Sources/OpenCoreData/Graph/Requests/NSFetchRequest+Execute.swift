import Foundation

extension NSFetchRequest {
  /// The objects (IDs, dictionaries, the count) that the context finds whose `perform` block is running.
  ///
  /// - Throws: As `fetch(_:)` of the context; `NSError` 134060 outside of such a block.
  public func execute() throws -> [ResultType] {
    // A task that was started in a block has inherited the context, but does not run on its queue.
    guard let context = NSManagedObjectContext.current, context.queue.isCurrent else {
      throw NSError.coreData(
        .coreData,
        "The fetch request finds no context: execute() works in blocks of perform and performAndWait. Elsewhere use "
          + "fetch(_:) of a context.")
    }
    return try context.fetch(self)
  }
}
