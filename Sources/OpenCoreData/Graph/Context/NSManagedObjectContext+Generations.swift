import Foundation

/// Reading from one state of the stores while others save. (Apple documentation: "Accessing data when the store
/// changes".)
extension NSManagedObjectContext {
  /// The generation that reads of this context and its children go to; nil for whatever is newest.
  public var queryGenerationToken: NSQueryGenerationToken? {
    checkQueue()
    guard let parent else { return generationPinned }
    return parent.performAndWait { parent.queryGenerationToken }
  }

  /// Has this context and its children read from one generation of the stores from now on.
  ///
  /// Objects that are loaded stay as they are until they are refreshed. A save or reset of the context moves it on to
  /// the newest generation, at its next read.
  ///
  /// - Parameter generation: `NSQueryGenerationToken.current` for what the stores hold when the context next reads,
  ///   the token of another context for what that one sees, or nil to see every save of others at once.
  /// - Throws: `NSError` 134060 for a context with a parent or without stores; 134070 for a token of another
  ///   coordinator, and where no store keeps generations.
  public func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
    checkQueue()
    guard parent == nil else {
      throw NSError.coreData(
        .coreData, "A child context reads what its parent does; set the query generation of the context at the root.")
    }
    if let generation { try requireCoordinator().check(generation) }
    generationPinned = generation
  }

  /// Moves a pinned context on to the newest generation.
  func advanceQueryGeneration() {
    if generationPinned != nil { generationPinned = .current }
  }

  /// The generation that the context at the root is pinned to, from now on at the latest.
  func generationToRead() throws -> QueryGeneration? {
    if let parent { return try parent.performAndWait { try parent.generationToRead() } }
    guard let generationPinned else { return nil }
    if let generation = generationPinned.generation { return generation }
    let generation = try requireCoordinator().pin()
    self.generationPinned = NSQueryGenerationToken(generation)
    return generation
  }

  /// Where reads of this context go.
  func storeReading() throws -> StoreReading {
    StoreReading(coordinator: try requireCoordinator(), generation: try generationToRead())
  }

  /// Saves metadata that was set on the coordinator, where no object has changed.
  func saveMetadata() throws {
    guard parent == nil, let coordinator = persistentStoreCoordinator, coordinator.hasUnsavedMetadata else { return }
    try coordinator.save(ChangeSet())
  }
}
