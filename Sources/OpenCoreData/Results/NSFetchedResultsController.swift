import Foundation

/// Presents the results of a fetch request as a list in sections, and reports changes to a delegate. (Apple
/// documentation: NSFetchedResultsController.)
///
/// It belongs to the queue of its context: use it there, and its delegate is called there. Without a delegate it shows
/// what `performFetch()` found. With a delegate it follows the context: unsaved changes, merges, refreshed objects and
/// what children save to it, each as soon as the context announces it (`processPendingChanges`). It holds its objects
/// strongly.
///
/// ```swift
/// let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
/// request.sortDescriptors = [NSSortDescriptor(key: "location", ascending: true)]
/// let controller = NSFetchedResultsController(
///   fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "location", cacheName: nil)
/// try controller.performFetch()
/// for section in controller.sections ?? [] { print(section.name, section.numberOfObjects) }
/// ```
///
/// Limit and offset of the request apply to `performFetch()` only: objects that match later are added regardless of the
/// number of objects. A batch size applies: `performFetch()` reads IDs, and rows are read batch by batch when objects
/// are used.
///
/// Delegates receive a controller of the type `NSFetchedResultsController<NSFetchRequestResult>`, as in Apple's
/// framework: another object with the same content, and equal (`==`) to this one.
open class NSFetchedResultsController<ResultType>: NSObject {
  let core: ResultsCore
  /// The controller that delegates receive, if it is not this one.
  private var erasedController: NSFetchedResultsController<any NSFetchRequestResult>?

  /// A controller without content; `performFetch()` fills it. Stops the program if the request's `sortDescriptors` is nil.
  /// (Apple documentation: init(fetchRequest:managedObjectContext:sectionNameKeyPath:cacheName:).)
  ///
  /// ```swift
  /// let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
  /// request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: false)]
  /// let controller = NSFetchedResultsController(
  ///   fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
  /// ```
  ///
  /// - Parameters:
  ///   - fetchRequest: Has sort descriptors, or an empty array of them; its order must keep the objects of a section
  ///     together. It may be changed later, followed by `performFetch()`.
  ///   - context: The context of the objects, whose changes the controller follows.
  ///   - sectionNameKeyPath: The property that names each object's section; nil for one section with all objects.
  ///   - name: Stored only; each `performFetch()` counts the sections again.
  public init(
    fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
    sectionNameKeyPath: String?, cacheName name: String?
  ) {
    precondition(
      fetchRequest.sortDescriptors != nil,
      "An instance of NSFetchedResultsController requires a fetch request with sort descriptors.")
    core = ResultsCore(
      context: context, sectionNameKeyPath: sectionNameKeyPath, cacheName: name, request: fetchRequest,
      currentRequest: { fetchRequest.retyped(as: (any NSFetchRequestResult).self) })
    super.init()
    core.owner = self
  }

  /// A controller for the same content with another type.
  private init(core: ResultsCore) {
    self.core = core
    super.init()
  }

  // MARK: Set-up

  /// The request whose results the controller shows. Change it and call `performFetch()` to show others. (Apple
  /// documentation: fetchRequest.)
  ///
  /// ```swift
  /// controller.fetchRequest.predicate = NSPredicate(format: "rating >= %d", 4)
  /// try controller.performFetch()
  /// ```
  open var fetchRequest: NSFetchRequest<ResultType> {
    core.request as? NSFetchRequest<ResultType> ?? core.currentRequest().retyped(as: ResultType.self)
  }
  /// The context of the objects, on whose queue the controller is used. (Apple documentation: managedObjectContext.)
  ///
  /// ```swift
  /// let context = controller.managedObjectContext
  /// for entry in controller.fetchedObjects ?? [] { context.delete(entry) }
  /// try context.save()
  /// ```
  open var managedObjectContext: NSManagedObjectContext { core.context }
  /// The property that names each object's section; nil for one section. (Apple documentation: sectionNameKeyPath.)
  open var sectionNameKeyPath: String? { core.sectionNameKeyPath }
  /// The name that the controller was made with. Nothing is cached under it. (Apple documentation: cacheName.)
  open var cacheName: String? { core.cacheName }
  /// Held weakly.
  ///
  /// ```swift
  /// controller.delegate = listView
  /// try controller.performFetch()
  /// ```
  open var delegate: (any NSFetchedResultsControllerDelegate)? {
    get { core.delegate }
    set { core.setDelegate(newValue) }
  }

  /// Does nothing, because there is no cache.
  open class func deleteCache(withName name: String?) {}

  /// Fetches, or fetches again. A delegate that takes snapshots receives one; other delegates are not called. (Apple
  /// documentation: performFetch().)
  ///
  /// ```swift
  /// try controller.performFetch()
  /// print(controller.fetchedObjects?.count ?? 0)
  /// ```
  ///
  /// - Throws: The error of the fetch; `NSError` 134060 if objects of a section are not adjacent.
  open func performFetch() throws {
    managedObjectContext.checkQueue()
    try core.performFetch()
  }

  // MARK: Content

  /// All objects in order; nil before `performFetch()`.
  ///
  /// ```swift
  /// for entry in controller.fetchedObjects ?? [] { print(entry.location ?? "") }
  /// ```
  open var fetchedObjects: [ResultType]? {
    if let known = fetchedCache, known.edition == core.edition { return known.objects }
    guard let objects = core.list?.objects as? [ResultType] else { return nil }
    fetchedCache = (core.edition, objects)
    return objects
  }
  private var fetchedCache: (edition: Int, objects: [ResultType])?

  /// Nil before `performFetch()`; one section without a `sectionNameKeyPath`.
  ///
  /// ```swift
  /// for section in controller.sections ?? [] { print(section.name, section.numberOfObjects) }
  /// ```
  open var sections: [any NSFetchedResultsSectionInfo]? { core.list.map(core.sectionInfos) }

  /// The object at an index path; stops the program if there is none. (Apple documentation: object(at:).)
  ///
  /// ```swift
  /// if let section = controller.sections?.first, section.numberOfObjects > 0 {
  ///   print(controller.object(at: IndexPath(indexes: [0, 0])))
  /// }
  /// ```
  ///
  /// - Parameter indexPath: Two indexes: of the section among `sections`, and of the object in it.
  open func object(at indexPath: IndexPath) -> ResultType {
    guard let object = core.list?.object(at: indexPath) as? ResultType else {
      preconditionFailure(
        "No object is at \(indexPath): call performFetch() first, and ask sections what there is.")
    }
    return object
  }

  /// Where an object is in the list. (Apple documentation: indexPath(forObject:).)
  ///
  /// - Parameter object: Any object.
  /// - Returns: The indexes of its section and of the object in it; nil if the controller does not show the object.
  open func indexPath(forObject object: ResultType) -> IndexPath? { core.indexPath(of: object) }

  // MARK: Index

  /// Titles of all sections in order, each once.
  open var sectionIndexTitles: [String] { core.list.map(core.indexTitles) ?? [] }

  /// The index title of a section: the delegate's answer, by default the first letter of the section's name. Subclasses
  /// may override it.
  open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
    guard let owner = core.owner, owner !== self else { return core.titleByDelegate(ofSection: sectionName) }
    return owner.sectionIndexTitle(forSectionName: sectionName)
  }

  /// The first section with a title of the index.
  ///
  /// - Parameters:
  ///   - title: One of `sectionIndexTitles`.
  ///   - sectionIndex: Its index among them.
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
  /// The controller that delegates receive.
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
