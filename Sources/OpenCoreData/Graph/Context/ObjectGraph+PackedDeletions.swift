import PersistentStores

/// Rows that are deleted without objects.
extension ObjectGraph {
  var hasDeletions: Bool { !deletions.isEmpty || !packedDeletions.isEmpty }
  var deletedCount: Int { deletions.count + packedDeletions.count }

  /// Deletes rows whose rules are carried out by the caller. No object is made.
  func delete(_ segment: DeletedSegment) {
    packedDeletions.append(segment)
    event.noteDeletion(of: segment)
  }

  /// The deleted objects. Makes those of packed rows.
  func deletedObjects() -> Set<NSManagedObject> { packedDeletions.objects(and: Array(deletions.values)) }

  /// The objects that an event announces as deleted. Most often these are all deleted objects of the context, which a
  /// save announces too.
  func deletedObjects(of event: ChangeEvent) -> Set<NSManagedObject> {
    if event.deletedSegments.elementsEqual(packedDeletions.segments, by: ===),
      event.deletions.count == deletions.count, event.deletions.allSatisfy({ deletions[$0.key] === $0.value })
    {
      return deletedObjects()
    }
    var all = Set(event.deletions.values)
    for segment in event.deletedSegments { segment.addObjects(to: &all) }
    return all
  }

  /// Whether a row that is read may have an object, or be deleted without one.
  var mayKnowObjects: Bool { !registry.hasNoEntries || !packedDeletions.isEmpty }

  /// The object that is registered under the key, or whose row is deleted without an object.
  func knownObject(_ key: ObjectKey) -> NSManagedObject? {
    if let known = registry[key] { return known }
    guard let (segment, row) = packedDeletions.locate(key) else { return nil }
    return unpackDeletion(segment, row: row)
  }

  /// Makes the objects of all packed deletions.
  func unpackDeletions() { _ = unpackDeletions(packedDeletions.segments) }

  /// Makes the objects of packed deletions.
  func unpackDeletions(_ segments: [DeletedSegment]) -> [NSManagedObject] {
    segments.flatMap { segment in
      Array(segment.rows.liveRows).map { unpackDeletion(segment, row: $0) }
    }
  }
}
