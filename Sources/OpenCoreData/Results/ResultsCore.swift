import Foundation

/// The implementation of a fetched results controller, independent of the type of its results.
// Unchecked: it belongs to the queue of its context. The client uses the controller there, and the context posts its
// notifications there.
final class ResultsCore: @unchecked Sendable {
  let context: NSManagedObjectContext
  let sectionNameKeyPath: String?
  let cacheName: String?
  /// The client's request.
  let request: NSPersistentStoreRequest
  /// The client's request with its present properties.
  let currentRequest: () -> NSFetchRequest<any NSFetchRequestResult>
  weak var owner: (any ResultsOwner)?
  private(set) weak var delegate: (any NSFetchedResultsControllerDelegate)?
  /// The report forms that the delegate is known or assumed to implement; default implementations set them to false.
  var takesSnapshots = true
  var takesDifferences = true

  /// Nil before the first fetch.
  var list: ResultsList? {
    didSet {
      edition += 1
      ranks = nil
    }
  }
  /// Counts the lists so far.
  private(set) var edition = 0
  private var ranks: [ObjectIdentifier: Int]?

  /// The query that the list's objects match; nil if the results are not objects and are not followed.
  var query: FetchQuery?
  /// The predicate, if it was made from a block, which the query lacks.
  var block: NSPredicate?
  /// Announced during a report.
  var waiting = TouchedObjects()
  var isReporting = false
  /// Changes were missed while there was no delegate.
  var isStale = false
  private var observers: [any NSObjectProtocol] = []

  init(
    context: NSManagedObjectContext, sectionNameKeyPath: String?, cacheName: String?,
    request: NSPersistentStoreRequest, currentRequest: @escaping () -> NSFetchRequest<any NSFetchRequestResult>
  ) {
    self.context = context
    self.sectionNameKeyPath = sectionNameKeyPath
    self.cacheName = cacheName
    self.request = request
    self.currentRequest = currentRequest
    observe(.NSManagedObjectContextObjectsDidChange) { $0.contextDidChange($1) }
    observe(.NSManagedObjectContextDidMergeChangesObjectIDs) { $0.contextDidMerge($1) }
  }

  private func observe(_ name: Notification.Name, _ body: @escaping @Sendable (ResultsCore, [AnyHashable: Any]) -> Void)
  {
    let observer = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
      [weak self] notification in
      if let self { body(self, notification.userInfo ?? [:]) }
    }
    observers.append(observer)
  }

  deinit {
    for observer in observers { NotificationCenter.default.removeObserver(observer) }
  }

  func setDelegate(_ delegate: (any NSFetchedResultsControllerDelegate)?) {
    self.delegate = delegate
    (takesSnapshots, takesDifferences) = (true, true)
  }

  // MARK: Fetching

  func performFetch() throws {
    let request = currentRequest()
    precondition(
      request.sortDescriptors != nil,
      "An instance of NSFetchedResultsController requires a fetch request with sort descriptors.")
    let fetched = try fetch(request)
    block = request.hasBlock ? request.predicate : nil
    let followed = block == nil ? request : request.withoutBlock().retyped(as: (any NSFetchRequestResult).self)
    query = request.resultType == .managedObjectResultType ? try followed.query(model: context.model) : nil
    query?.limit = request.fetchLimit
    query?.offset = max(0, request.fetchOffset)
    list = fetched
    waiting = TouchedObjects()
    isStale = false
    sendSnapshot(reloading: [])
  }

  /// The present results of the request, in sections.
  func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> ResultsList {
    if let list = try fetchInBatches(request) { return list }
    let objects = try context.fetch(request).compactMap { $0 as? NSObject }
    guard sectionNameKeyPath != nil else { return ResultsList(objects) }
    var counts = SectionCounts()
    for object in objects {
      try loadSectionName(of: object)
      try counts.append(sectionName(of: object))
    }
    return ResultsList(objects, sections: counts.sections)
  }

  /// Objects as faults, in sections by values that are read with their IDs: with a batch size, asking each object for
  /// its section would load them all. Nil if sections are not named by a stored attribute.
  private func fetchInBatches(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> ResultsList? {
    guard let name = sectionNameKeyPath, request.fetchBatchSize > 0, request.resultType == .managedObjectResultType,
      !request.hasBlock
    else { return nil }
    context.processPendingChanges()
    var query = request.rowQuery(try request.query(model: context.model))
    guard let slot = query.entity.slot(named: name), !query.entity.attributeSlots[slot].isTransient else { return nil }
    query.values = .attributes([name])
    let rows = try context.rows(query)
    var (objects, counts) = ([NSObject](), SectionCounts())
    for (row, result) in zip(rows, try context.results(of: request, query, rows)) {
      guard let object = result as? NSManagedObject else { continue }
      if object.isFault, !object.hasValues {
        let value = try query.value([name], of: row)
        try counts.append(Self.sectionName(query.entity.attributeSlots[slot].foundationValue(from: value)))
      } else {
        try object.load()
        try counts.append(sectionName(of: object))
      }
      objects.append(object)
    }
    return ResultsList(objects, sections: counts.sections)
  }

  /// Loads the objects that name an object's section: asking for the name can't throw.
  private func loadSectionName(of object: NSObject) throws {
    guard let object = object as? NSManagedObject, let keys = sectionNameKeyPath?.split(separator: ".") else { return }
    try object.load()
    // Names that are computed have no path in the model.
    if let path = try? AttributePath(keys.map(String.init), of: object.entity) { _ = try object.storedValue(at: path) }
  }

  /// The name of an object's section; empty for nil.
  func sectionName(of object: NSObject) -> String {
    guard let sectionNameKeyPath else { return "" }
    switch object {
    case let object as NSManagedObject: return Self.sectionName(object.value(forKeyPath: sectionNameKeyPath))
    case let row as NSDictionary: return Self.sectionName(row.object(forKey: NSString(string: sectionNameKeyPath)))
    default:
      preconditionFailure("Results of the class \(type(of: object)) have no \(sectionNameKeyPath) to name sections by.")
    }
  }

  static func sectionName(_ value: Any?) -> String {
    switch value {
    case nil, is NSNull: ""
    case let text as String: text
    case let number as NSNumber: number.stringValue
    case let other?: "\(other)"
    }
  }

  // MARK: Looking up

  func indexPath(of result: Any) -> IndexPath? {
    guard let list, let object = result as? NSObject else { return nil }
    // Objects are compared by identity; other results by their values.
    guard object is NSManagedObject else { return list.objects.firstIndex(of: object).map(list.indexPath) }
    let known = ranks ?? list.ranks
    ranks = known
    return known[ObjectIdentifier(object)].map(list.indexPath)
  }
}

extension ResultsList {
  /// The index of each object.
  fileprivate var ranks: [ObjectIdentifier: Int] {
    Dictionary(objects.enumerated().map { (ObjectIdentifier($1), $0) }) { first, _ in first }
  }
}
