import Foundation

/// Fetches with predicates that were made from blocks. They are evaluated on objects, as Apple's stores in memory do; a
/// SQLite store refuses them, as Apple's does.
extension NSManagedObjectContext {
  func resultsMatchingBlock<ResultType>(of request: NSFetchRequest<ResultType>) throws -> [Any] {
    let objects = try objectsMatchingBlock(of: request)
    switch request.resultType {
    case .countResultType: return [NSNumber(value: objects.count)]
    case .managedObjectIDResultType: return objects.map(\.objectID)
    default:
      if let paths = request.relationshipKeyPathsForPrefetching, let entity = request.resolveEntity(model) {
        try prefetch(paths, of: objects, entity)
      }
      return objects
    }
  }

  /// The objects that a request with a block finds, in its order and within its limits.
  ///
  /// - Throws: `NSError` 134060 if a store that the request asks does not evaluate blocks, or if the request asks for
  ///   dictionaries.
  func objectsMatchingBlock<ResultType>(of request: NSFetchRequest<ResultType>) throws -> [NSManagedObject] {
    try checkBlocks(of: request)
    let found = try fetch(request.withoutBlock()).filter { request.predicate?.evaluate(with: $0) ?? true }
    let rest = found.dropFirst(max(0, request.fetchOffset))
    return Array(request.fetchLimit > 0 ? rest.prefix(request.fetchLimit) : rest)
  }

  private func checkBlocks<ResultType>(of request: NSFetchRequest<ResultType>) throws {
    let entity = request.resolveEntity(model)
    let asked = (request.affectedStores ?? persistentStoreCoordinator?.persistentStores ?? []).filter { store in
      entity.map { store.rowStore.keeps($0) } ?? true
    }
    if let store = asked.first(where: { !$0.evaluatesBlocks }) {
      throw NSError.coreData(
        .coreData,
        "A predicate made from a block can't be evaluated by the \(store.type) store \(store.url?.path ?? store.identifier), "
          + "which translates predicates. Make it with NSPredicate(format:), or fetch without it and filter the objects "
          + "with it.")
    }
    guard request.resultType != .dictionaryResultType else {
      throw NSError.coreData(
        .coreData,
        "A fetch of dictionaries can't have a predicate made from a block. Make it with NSPredicate(format:), or fetch "
          + "objects.")
    }
  }
}

extension NSFetchRequest {
  /// The request for all objects that may match: without the parts of the predicate that are blocks, and without a limit.
  /// It has objects as results.
  func withoutBlock() -> NSFetchRequest<NSManagedObject> {
    let request = retyped(as: NSManagedObject.self)
    request.predicate = predicate?.translatablePart
    (request.fetchLimit, request.fetchOffset, request.fetchBatchSize) = (0, 0, 0)
    request.resultType = .managedObjectResultType
    request.includesPropertyValues = true
    request.relationshipKeyPathsForPrefetching = nil
    return request
  }
}

extension NSPredicate {
  /// What a store can evaluate of it, which holds wherever the predicate does; nil if that is nothing.
  fileprivate var translatablePart: NSPredicate? {
    if (try? predicateNode()) != nil { return self }
    guard let compound = self as? NSCompoundPredicate, compound.compoundPredicateType == .and else { return nil }
    let parts = compound.subpredicates.compactMap(\.translatablePart)
    return parts.isEmpty ? nil : NSCompoundPredicate(andPredicateWithSubpredicates: parts)
  }
}
