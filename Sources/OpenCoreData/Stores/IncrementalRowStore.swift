import Foundation

/// The adapter of an incremental store: queries become fetch requests, change sets become save requests.
// Unchecked: as its superclass; what it adds is used under the superclass's lock.
final class IncrementalRowStore: StoreAdapter, @unchecked Sendable {
  var editions = RowEditions()
  private var registered: [ObjectKey: NSManagedObjectID] = [:]

  override func makeReader() throws -> any RowReader { IncrementalReader(self) }
  override func write(_ changes: ChangeSet) throws { try save(changes) }
  override func obtainPermanentIDs(for rows: [FetchedRow]) throws { try obtainIDs(for: rows) }

  // MARK: Fetching

  /// What the store finds for `request`, which has its result type set.
  func results(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
    try withScratch { context in
      let store: NSIncrementalStore = try client()
      request.affectedStores = [store]
      let found = try store.execute(request, with: context)
      switch found {
      case let results as [Any]: return results
      case let results as NSArray: return results.map { $0 }
      default: return [found]
      }
    }
  }

  /// The IDs of what a query finds, in the order of the store.
  func ids(_ query: FetchQuery) throws -> [NSManagedObjectID] {
    try check(query)
    // The store need not know of keys, so it can't count to a limit of rows above one.
    var whole = query
    if query.keyAbove != nil { (whole.limit, whole.offset) = (0, 0) }
    let isOfIDs = query.values == .none && query.keyPaths.isEmpty
    let request = whole.request(isOfIDs ? .managedObjectIDResultType : .managedObjectResultType)
    let ids = try results(request).map(id(ofResult:))
    guard let keyAbove = query.keyAbove else { return ids }
    return query.slice(ids.filter { ($0.storeKey ?? 0) > keyAbove })
  }

  private func id(ofResult result: Any) throws -> NSManagedObjectID {
    let id = (result as? NSManagedObject)?.objectID ?? result as? NSManagedObjectID
    guard let id, case .permanent(let store, _) = id.reference, store === identity else {
      throw NSError.coreData(
        .coreData,
        "The store \(place) returned \(result) for a fetch request. Return objects of the context that was given, or "
          + "object IDs that newObjectID(for:referenceObject:) made.")
    }
    return id
  }

  // MARK: Rows

  /// The row of an object as the store has it now; nil when it is gone.
  func row(for id: NSManagedObjectID) throws -> FetchedRow? {
    guard let node = try node(for: id) else { return nil }
    let values = try id.entity.storedValues { node.value(for: $0) }
    let edition = editions.edition(of: id.key, version: node.version, values: values)
    return FetchedRow(id: id, version: edition, values: values)
  }

  private func node(for id: NSManagedObjectID) throws -> NSIncrementalStoreNode? {
    guard case .permanent(let store, let key) = id.reference, store === identity,
      references.reference(of: key) != nil
    else { return nil }
    do {
      return try withScratch { context in
        let store: NSIncrementalStore = try client()
        return try store.newValuesForObject(with: id, with: context)
      }
    } catch let error as NSError where error.isMissingRow {
      return nil
    }
  }

  func related(_ relationship: NSRelationshipDescription, of id: NSManagedObjectID) throws -> [NSManagedObjectID] {
    guard id.storeIdentity === identity else { return [] }
    if !relationship.isToMany, let known = try node(for: id)?.value(for: relationship) {
      return RelatedValue.ids(known, isOrdered: true)
    }
    do {
      let value = try withScratch { context in
        let store: NSIncrementalStore = try client()
        return try store.newValue(forRelationship: relationship, forObjectWith: id, with: context)
      }
      return RelatedValue.ids(value, isOrdered: relationship.isOrdered)
    } catch let error as NSError where error.isMissingRow {
      return []
    }
  }

  // MARK: Registration

  func register(_ ids: [NSManagedObjectID]) throws {
    let new = ids.filter { registered.updateValue($0, forKey: $0.key) == nil }
    guard !new.isEmpty else { return }
    try client(NSIncrementalStore.self).managedObjectContextDidRegisterObjects(with: new)
  }

  func unregister(_ ids: [NSManagedObjectID]) throws {
    let known = ids.filter { registered.removeValue(forKey: $0.key) != nil }
    guard !known.isEmpty else { return }
    try client(NSIncrementalStore.self).managedObjectContextDidUnregisterObjects(with: known)
  }

  override func willClose() {
    // A store that is gone has nothing to hear of it.
    try? unregister(registered.values.sorted { $0.key.number < $1.key.number })
  }
}

extension NSError {
  /// What a store says of a row that does not exist any more.
  fileprivate var isMissingRow: Bool {
    domain == NSCocoaErrorDomain && code == NSManagedObjectReferentialIntegrityError
  }
}

/// What a store of a client's own gives for a relationship.
enum RelatedValue {
  /// - Parameter isOrdered: Otherwise the IDs are sorted by key.
  static func ids(_ value: Any?, isOrdered: Bool) -> [NSManagedObjectID] {
    let ids = elements(value).compactMap(id)
    return isOrdered ? ids : ids.sorted { ($0.key.scope, $0.key.number) < ($1.key.scope, $1.key.number) }
  }

  private static func id(_ value: Any) -> NSManagedObjectID? {
    switch value {
    case let id as NSManagedObjectID: id
    case let node as NSAtomicStoreCacheNode: node.objectID
    case let object as NSManagedObject: object.objectID
    default: nil
    }
  }

  private static func elements(_ value: Any?) -> [Any] {
    switch value {
    case nil, is NSNull: []
    case let list as [Any]: list
    case let set as Set<NSManagedObjectID>: Array(set)
    case let set as Set<NSAtomicStoreCacheNode>: Array(set)
    case let set as NSSet: set.allObjects
    case let set as NSOrderedSet: set.array
    case let list as NSArray: list.map { $0 }
    case let one?: [one]
    }
  }
}
