import OpenCoreData

/// Finds the objects that a link can lead to, by what identifies them, for one chunk at a time.
protocol LinkLookup: AnyObject {
  /// Called before the names of a chunk are looked up.
  func beginChunk(_ digests: [KeyDigest]) throws
  func find(_ digest: KeyDigest) -> FoundObject
  /// Notes an object that the chunk has created.
  func noteCreated(_ digest: KeyDigest, _ id: NSManagedObjectID) throws
  /// Called when the chunk is saved.
  func endChunk() throws
}

/// What is known of a name.
enum FoundObject {
  case none
  /// More than one object has it.
  case several
  case stored(NSManagedObjectID)
}
