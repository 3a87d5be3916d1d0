import Foundation

/// Shows what a fetch request finds as a list in sections, and tells a delegate what changes in it. (Apple
/// documentation: NSFetchedResultsController.)
///
/// It belongs to the queue of its context: use it there, and its delegate is called there. Without a delegate it shows
/// what `performFetch()` found; with one it follows the context: unsaved changes, merges, refreshed objects and what
/// children save to it, each as soon as the context announces it (`processPendingChanges`). It holds its objects.
///
/// Limit and offset of the request apply to `performFetch()` only: objects that come later are put in whatever the
/// number of objects is then. A batch size is kept to: `performFetch()` reads identities, and rows come in batch by
/// batch when objects are used.
///
/// Delegates are handed a controller of the type `NSFetchedResultsController<NSFetchRequestResult>`, as in Apple's
/// framework: another object with the same content, and equal (`==`) to this one.
open class NSFetchedResultsController<ResultType>: NSObject {
  let core: ResultsCore
  /// The controller that delegates are handed, where it is not this one.
  private var erasedController: NSFetchedResultsController<any NSFetchRequestResult>?

  /// - Parameters:
  ///   - fetchRequest: With one sort descriptor at least; its order has to keep the objects of a section together.
  ///     It may be changed later, to be followed by `performFetch()`.
  ///   - context: Where objects live and changes are listened for.
  ///   - sectionNameKeyPath: The property that names each object's section; nil for one section of everything.
  ///   - name: Kept; sections are counted anew by each `performFetch()`.
  public init(
    fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
    sectionNameKeyPath: String?, cacheName name: String?
  ) {
    precondition(
      fetchRequest.sortDescriptors?.isEmpty == false,
      "An instance of NSFetchedResultsController requires a fetch request with sort descriptors.")
    core = ResultsCore(
      context: context, sectionNameKeyPath: sectionNameKeyPath, cacheName: name, request: fetchRequest,
      currentRequest: { fetchRequest.retyped(as: (any NSFetchRequestResult).self) })
    super.init()
    core.owner = self
  }

  /// For the same content under another type.
  private init(core: ResultsCore) {
    self.core = core
    super.init()
  }

  // MARK: Set-up

  open var fetchRequest: NSFetchRequest<ResultType> {
    core.request as? NSFetchRequest<ResultType> ?? core.currentRequest().retyped(as: ResultType.self)
  }
  open var managedObjectContext: NSManagedObjectContext { core.context }
  open var sectionNameKeyPath: String? { core.sectionNameKeyPath }
  open var cacheName: String? { core.cacheName }
  /// Held weakly.
  open var delegate: (any NSFetchedResultsControllerDelegate)? {
    get { core.delegate }
    set { core.setDelegate(newValue) }
  }

  /// Does nothing: no cache is kept.
  open class func deleteCache(withName name: String?) {}

  /// Fetches, anew if it was called before. A delegate that takes snapshots is sent one; nobody else is told.
  ///
  /// - Throws: What the fetch says; `NSError` 134060 when objects of a section are not together.
  open func performFetch() throws {
    managedObjectContext.checkQueue()
    try core.performFetch()
  }

  // MARK: Content

  /// Everything, in order; nil before `performFetch()`.
  open var fetchedObjects: [ResultType]? {
    if let known = fetchedCache, known.edition == core.edition { return known.objects }
    guard let objects = core.list?.objects as? [ResultType] else { return nil }
    fetchedCache = (core.edition, objects)
    return objects
  }
  private var fetchedCache: (edition: Int, objects: [ResultType])?

  /// Nil before `performFetch()`; a single one without a `sectionNameKeyPath`.
  open var sections: [any NSFetchedResultsSectionInfo]? { core.list.map(core.sectionInfos) }

  /// The object at a section and a place in it; there must be one.
  open func object(at indexPath: IndexPath) -> ResultType {
    guard let object = core.list?.object(at: indexPath) as? ResultType else {
      preconditionFailure(
        "There is no object at \(indexPath): call performFetch() first, and ask sections what there is.")
    }
    return object
  }

  /// Where `object` is; nil if it is not here.
  open func indexPath(forObject object: ResultType) -> IndexPath? { core.indexPath(of: object) }

  // MARK: Index

  /// Titles of all sections in order, each once.
  open var sectionIndexTitles: [String] { core.list.map(core.indexTitles) ?? [] }

  /// What stands for a section in an index: what the delegate says, by default the first letter of its name. Subclasses
  /// may override it.
  open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
    guard let owner = core.owner, owner !== self else { return core.titleByDelegate(ofSection: sectionName) }
    return owner.sectionIndexTitle(forSectionName: sectionName)
  }

  /// The first section with a title of the index.
  ///
  /// - Parameters:
  ///   - title: One of `sectionIndexTitles`.
  ///   - sectionIndex: Its place among them.
  open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
    let titles = sectionIndexTitles
    precondition(
      titles.indices.contains(sectionIndex) && titles[sectionIndex] == title,
      "Index title at \(sectionIndex) is not equal to '\(title)'; the titles are: \(titles.joined(separator: ", ")).")
    return sections?.firstIndex { $0.indexTitle == title } ?? 0
  }

  // MARK: Identity

  open override func isEqual(_ object: Any?) -> Bool { (object as? any ResultsOwner)?.core === core }
  open override var hash: Int { ObjectIdentifier(core).hashValue }
}

/// The controller that the client made.
protocol ResultsOwner: AnyObject {
  var core: ResultsCore { get }
  /// What delegates are handed.
  var erased: NSFetchedResultsController<any NSFetchRequestResult> { get }
  func sectionIndexTitle(forSectionName sectionName: String) -> String?
}

extension NSFetchedResultsController: ResultsOwner {
  var erased: NSFetchedResultsController<any NSFetchRequestResult> {
    if let same = self as? NSFetchedResultsController<any NSFetchRequestResult> { return same }
    if let erasedController { return erasedController }
    let made = NSFetchedResultsController<any NSFetchRequestResult>(core: core)
    erasedController = made
    return made
  }
}
