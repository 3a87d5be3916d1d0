import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

/// What the tests of fetched results controllers share: sessions with a title that no two of them share.
enum Results {
  static func model(className: String = "NSManagedObject") -> NSManagedObjectModel {
    Sessions.model(className: className) { $0.properties += [Sessions.attribute("title", .stringAttributeType)] }
  }

  @discardableResult
  static func insert(
    _ title: String, place: String?, rating: Int, in context: NSManagedObjectContext, _ entity: NSEntityDescription
  ) -> NSManagedObject {
    let object = NSManagedObject.make(entity, in: context)
    object.setValue(title, forKey: "title")
    object.setValue(place, forKey: "place")
    object.setValue(rating, forKey: "rating")
    return object
  }

  static func request(_ keys: [String], _ predicate: String? = nil) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
    request.sortDescriptors = keys.map { key in
      key.hasPrefix("-")
        ? NSSortDescriptor(key: String(key.dropFirst()), ascending: false) : NSSortDescriptor(key: key, ascending: true)
    }
    if let predicate { request.predicate = NSPredicate(format: predicate) }
    return request
  }

  static func text(_ object: NSManagedObject) -> String {
    ["title", "place", "rating", "date"].map { key in object.value(forKey: key).map { "\($0)" } ?? "nil" }
      .joined(separator: "|")
  }
}

extension NSManagedObject {
  var sessionTitle: String { value(forKey: "title") as? String ?? "nil" }
}

/// A table as a view keeps it, changed by nothing but what a fetched results controller tells its delegate.
final class TableMirror: NSObject, NSFetchedResultsControllerDelegate {
  struct Section: Equatable {
    var name: String
    var rows: [String]
  }

  private(set) var sections: [Section] = []
  /// Each callback in a few words.
  private(set) var log: [String] = []
  private(set) var faults: [String] = []

  private var deletedSections: [Int] = []
  private var insertedSections: [(Int, String)] = []
  private var removals: [IndexPath] = []
  private var insertions: [(IndexPath, String)] = []
  private var updates: [(IndexPath, String)] = []
  private var isChanging = false

  func takeLog() -> [String] {
    defer { log = [] }
    return log
  }

  /// Starts from what the controller shows.
  func load<R>(_ controller: NSFetchedResultsController<R>) {
    sections = Self.content(controller)
  }

  static func content<R>(_ controller: NSFetchedResultsController<R>) -> [Section] {
    (controller.sections ?? []).map { section in
      let objects = section.objects as? [NSManagedObject] ?? []
      return Section(name: section.name, rows: objects.map(Results.text))
    }
  }

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    log.append("will")
    if isChanging { faults.append("will change twice") }
    let shown = (controller.sections ?? []).map(\.numberOfObjects)
    if shown != sections.map(\.rows.count) { faults.append("new content in will change") }
    isChanging = true
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange sectionInfo: NSFetchedResultsSectionInfo,
    atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
  ) {
    log.append("\(type) section \(sectionInfo.name) \(sectionIndex)")
    if type == .delete, sectionInfo.numberOfObjects > 0 || sectionInfo.objects?.isEmpty == false {
      faults.append("a deleted section has objects")
    }
    if !(removals.isEmpty && insertions.isEmpty && updates.isEmpty) { faults.append("section after objects") }
    switch type {
    case .delete:
      deletedSections.append(sectionIndex)
      if sectionInfo.numberOfObjects != 0 || sectionInfo.objects?.isEmpty != true {
        faults.append("a deleted section has objects")
      }
    case .insert: insertedSections.append((sectionIndex, sectionInfo.name))
    default: faults.append("section \(type)")
    }
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
    for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    guard let object = anObject as? NSManagedObject else { return faults.append("no object") }
    let places = [indexPath, newIndexPath].map { $0.map { "\($0.section).\($0.item)" } ?? "-" }
    log.append("\(type) \(object.sessionTitle) \(places[0]) \(places[1])")
    switch (type, indexPath, newIndexPath) {
    case (.delete, let old?, nil): removals.append(old)
    case (.insert, nil, let new?): insertions.append((new, Results.text(object)))
    case (.move, let old?, let new?):
      removals.append(old)
      insertions.append((new, Results.text(object)))
    case (.update, let old?, let new?):
      if controller.object(at: new) as? NSManagedObject !== object { faults.append("updated elsewhere") }
      updates.append((old, Results.text(object)))
    default: faults.append("\(type) \(places)")
    }
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    log.append("did")
    if !isChanging { faults.append("did change before will") }
    isChanging = false
    for (path, text) in updates { sections[path.section].rows[path.item] = text }
    for path in removals.sorted(by: >) { sections[path.section].rows.remove(at: path.item) }
    for index in deletedSections.sorted(by: >) {
      if !sections[index].rows.isEmpty { faults.append("section \(index) deleted with rows in it") }
      sections.remove(at: index)
    }
    for (index, name) in insertedSections.sorted(by: { $0.0 < $1.0 }) {
      sections.insert(Section(name: name, rows: []), at: index)
    }
    for (path, text) in insertions.sorted(by: { $0.0 < $1.0 }) {
      guard path.section < sections.count, path.item <= sections[path.section].rows.count else {
        faults.append("nothing can go to \(path)")
        continue
      }
      sections[path.section].rows.insert(text, at: path.item)
    }
    (deletedSections, insertedSections, removals, insertions, updates) = ([], [], [], [], [])
  }
}

/// A context with some sessions, saved; a controller on it, and its delegate.
struct ResultsFixture {
  let stack: Stack
  let context: NSManagedObjectContext
  let controller: NSFetchedResultsController<NSManagedObject>
  let table = TableMirror()
  private let folder: TemporaryFolder

  /// - Parameter sessions: Titles, places and ratings.
  init(
    _ sessions: [(String, String?, Int)], keys: [String] = ["place", "title"], section: String? = "place",
    _ change: (NSFetchRequest<NSManagedObject>) -> Void = { _ in }
  ) throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder, model: Results.model())
    context = stack.context()
    let request = Results.request(keys)
    change(request)
    controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: section, cacheName: nil)
    controller.delegate = table
    let (stack, context, controller, table) = (stack, context, controller, table)
    try context.performAndWait {
      for (title, place, rating) in sessions {
        Results.insert(title, place: place, rating: rating, in: context, stack.entity)
      }
      try context.save()
      try controller.performFetch()
      table.load(controller)
    }
  }

  /// What the delegate gets for `edit`; checked to lead to what the controller shows.
  func reported(_ edit: (NSManagedObjectContext) throws -> Void) throws -> [String] {
    try context.performAndWait {
      try edit(context)
      context.processPendingChanges()
      #expect(table.sections == TableMirror.content(controller))
      #expect(table.faults.isEmpty)
      return table.takeLog()
    }
  }

  /// The object with a title, in `context`.
  func session(_ title: String, in other: NSManagedObjectContext? = nil) throws -> NSManagedObject {
    let request = Results.request(["title"])
    request.predicate = NSPredicate(format: "title == %@", title)
    return try #require((other ?? context).fetch(request).first)
  }

  var titles: [String] { (controller.fetchedObjects ?? []).map(\.sessionTitle) }
}
