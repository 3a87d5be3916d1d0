import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSFetchRequest, fetchBatchSize): performFetch reads identities, and the values that name
// sections with them; rows are read batch by batch, in child contexts too.

@Suite("A controller keeps to the batch size", .overBothStores)
struct ResultsBatchTests {
  private static let columns = "t0.Z_PK, t0.Z_ENT, t0.Z_OPT"
  private static let rows =
    "SELECT \(columns), t0.ZDATE, t0.ZPLACE, t0.ZRATING, t0.ZTITLE FROM ZSESSION t0 "
    + "WHERE t0.Z_PK IN (?,?) ORDER BY t0.Z_PK"

  /// A controller over six sessions in three sections, on a context so many levels above the coordinator.
  private func fixture(
    depth: Int, section: String?, _ body: (NSFetchedResultsController<NSManagedObject>, Stack) throws -> Void
  ) throws {
    let stack = try Stack(TemporaryFolder(), model: Results.model())
    let root = stack.context()
    try root.performAndWait {
      for number in 0..<6 {
        Results.insert(
          "t\(number)", place: ["Bells", "Jaws", "Waimea"][number / 2], rating: number, in: root, stack.entity)
      }
      try root.save()
      root.reset()
    }
    let context = (0..<depth).reduce(root) { parent, _ in stack.context(parent) }
    let request = Results.request(["place", "title"])
    request.fetchBatchSize = 2
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: section, cacheName: nil)
    try context.performAndWait { try body(controller, stack) }
  }

  @Test("Identities at once, rows batch by batch", arguments: [0, 1, 2])
  func batches(depth: Int) throws {
    try fixture(depth: depth, section: nil) { controller, stack in
      let sql = try Trace.of(stack) {
        try controller.performFetch()
        #expect(controller.sections?.first?.numberOfObjects == 6)
        #expect(controller.object(at: IndexPath(row: 2, section: 0)).sessionTitle == "t2")
        #expect(controller.object(at: IndexPath(row: 3, section: 0)).sessionTitle == "t3")
      }
      let identities = "SELECT \(Self.columns) FROM ZSESSION t0 ORDER BY t0.ZPLACE, t0.ZTITLE, t0.Z_PK"
      if stack.kind == .sqlite { #expect(sql == [identities, Self.rows]) }
    }
  }

  @Test("Sections are counted without loading a row, with pending changes too", arguments: [0, 1, 2])
  func sections(depth: Int) throws {
    try fixture(depth: depth, section: "place") { controller, stack in
      Results.insert("new", place: "Jaws", rating: 1, in: controller.managedObjectContext, stack.entity)
      let sql = try Trace.of(stack) {
        try controller.performFetch()
        #expect(controller.sections?.map(\.numberOfObjects) == [2, 3, 2])
        #expect(controller.fetchedObjects?.filter { !$0.isFault }.map(\.sessionTitle) == ["new"])
      }
      if stack.kind == .sqlite { #expect(sql.count == 1 && sql.first?.contains("ZRATING") == false) }
    }
  }

  @Test("Refreshing all objects loads none of them again")
  func refresh() throws {
    try fixture(depth: 1, section: "place") { controller, stack in
      let counter = CountingDelegate()
      controller.delegate = counter
      try controller.performFetch()
      let context = controller.managedObjectContext
      let sql = try Trace.of(stack) {
        context.refreshAllObjects()
        context.processPendingChanges()
        #expect(controller.fetchedObjects?.allSatisfy(\.isFault) == true)
      }
      if stack.kind == .sqlite { #expect(sql.count == 1) }
      #expect(counter.updateCount == 6)
    }
  }

  private final class CountingDelegate: NSObject, NSFetchedResultsControllerDelegate {
    private(set) var updateCount = 0
    func controller(
      _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
      for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      if type == .update { updateCount += 1 }
    }
  }

  @Test("An insertion looks at the rows near its index only")
  func insertion() throws {
    try fixture(depth: 1, section: "place") { controller, stack in
      let counter = CountingDelegate()
      controller.delegate = counter
      try controller.performFetch()
      let context = controller.managedObjectContext
      let sql = try Trace.of(stack) {
        Results.insert("x", place: "Waimea", rating: 1, in: context, stack.entity)
        context.processPendingChanges()
      }
      if stack.kind == .sqlite { #expect(sql == [Self.rows, Self.rows]) }
      #expect(controller.sections?.map(\.numberOfObjects) == [2, 2, 3])
      #expect(controller.object(at: IndexPath(row: 0, section: 0)).isFault)
    }
  }
}
