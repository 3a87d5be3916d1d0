import Foundation

/// Reading from one state of the stores while other contexts save. (Apple documentation: "Accessing data when the store
/// changes".)
extension NSManagedObjectContext {
  /// The generation that this context and its children read; nil for the newest state.
  public var queryGenerationToken: NSQueryGenerationToken? {
    checkQueue()
    guard let parent else { return generationPinned }
    return parent.performAndWait { parent.queryGenerationToken }
  }

  /// Makes this context and its children read from one generation of the stores from now on.
  ///
  /// Loaded objects stay as they are until they are refreshed. A save or reset of the context moves it to the newest
  /// generation at its next read. Stores that keep no generations are read in their newest state: that takes a SQLite
  /// store in a file, with the journal mode WAL.
  ///
  /// - Parameter generation: `NSQueryGenerationToken.current` for the state at the context's next read, the token of
  ///   another context for the state which that context reads, or nil to see every save immediately.
  /// - Throws: `NSError` 134060 for a context with a parent or without a coordinator; 134070 for a token of
  ///   another coordinator.
  public func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
    checkQueue()
    guard parent == nil else {
      throw NSError.coreData(
        .coreData, "A child context reads what its parent does; set the query generation of the context at the root.")
    }
    if let generation { try requireCoordinator().check(generation) }
    generationPinned = generation
  }

  /// Moves a pinned context to the newest generation.
  func advanceQueryGeneration() {
    if generationPinned != nil { generationPinned = .current }
  }

  /// The generation that the root context is pinned to. A context that is to be pinned is pinned now at the latest.
  func generationToRead() throws -> QueryGeneration? {
    if let parent { return try parent.performAndWait { try parent.generationToRead() } }
    guard let generationPinned else { return nil }
    if let generation = generationPinned.generation { return generation }
    let generation = try requireCoordinator().pin()
    self.generationPinned = NSQueryGenerationToken(generation)
    return generation
  }

  /// The source of this context's reads.
  func storeReading() throws -> StoreReading {
    try writeLinks()
    try beforeReading?()
    return StoreReading(coordinator: try requireCoordinator(), generation: try generationToRead())
  }

  /// Saves metadata that was set on the coordinator when no object has changed.
  func saveMetadata() throws {
    guard parent == nil, let coordinator = persistentStoreCoordinator, coordinator.hasUnsavedMetadata else { return }
    try coordinator.save(ChangeSet(), for: changeOrigin)
  }
}
