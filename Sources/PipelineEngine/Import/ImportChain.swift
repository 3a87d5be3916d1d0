import Foundation
import OpenCoreData

/// The contexts that a chunk passes on its way to the store.
///
/// Import context (private) → view context (main queue) → writer context (private) → coordinator: each save goes
/// one level up. A dry run has the first two only, both private, and throws the entries away at the second.
struct ImportChain {
  /// What became of a row that could not be saved.
  struct Failure {
    let row: Int
    let code: IssueCode
    let message: String
  }

  private let importContext: NSManagedObjectContext
  /// Above the import context, in the order in which they are saved.
  private let levels: [NSManagedObjectContext]
  private let isDryRun: Bool
  let container: NSPersistentContainer

  init(_ container: NSPersistentContainer, chain: RunOptions.ContextChain, isDryRun: Bool) {
    self.container = container
    self.isDryRun = isDryRun
    let writer = container.newBackgroundContext()
    writer.name = "writer"
    var levels = [writer]
    if isDryRun {
      importContext = NSManagedObjectContext(concurrencyType: .privateQueue)
      importContext.parent = writer
    } else if chain == .three {
      let view = NSManagedObjectContext(concurrencyType: .mainQueue)
      view.name = "view"
      view.parent = writer
      levels.insert(view, at: 0)
      importContext = NSManagedObjectContext(concurrencyType: .privateQueue)
      importContext.parent = view
    } else {
      importContext = writer
      levels = []
    }
    importContext.name = "import"
    self.levels = levels
    // Sets of objects for every save would cost as much as the import. Nobody watches these contexts.
    for context in levels + [importContext] { context.changeNotificationContents = .objectIDs }
  }

  /// Inserts the entries of `batch` and saves them level by level.
  ///
  /// - Returns: The rows that were refused, by a rule of the model or a constraint of the store. When there are any,
  ///   nothing of the batch was saved and no context holds any of it: take them out and save again.
  /// - Throws: What stopped the save for another cause.
  func save(_ batch: ObjectBatch) throws -> [Failure] {
    guard batch.count > 0 else { return [] }
    do {
      try importContext.performAndWait {
        importContext.insert(batch)
        try importContext.save()
      }
      for context in levels {
        try context.performAndWait {
          if isDryRun { context.reset() } else { try context.save() }
        }
      }
      return []
    } catch {
      rollBack()
      let failures = Self.failures(in: error as NSError)
      guard !failures.isEmpty else { throw error }
      return failures
    }
  }

  /// Nothing of the failed chunk stays pending anywhere.
  private func rollBack() {
    for context in [importContext] + levels { context.performAndWait { context.rollback() } }
  }

  // MARK: Errors by row

  private static func failures(in error: NSError) -> [Failure] {
    let details = (error.userInfo[NSDetailedErrorsKey] as? [NSError]) ?? [error]
    var failures: [Int: Failure] = [:]
    for detail in details {
      for id in objectIDs(in: detail) {
        guard let row = id.batchRow, failures[row] == nil else { continue }
        let isModel = (1550..<1700).contains(detail.code)
        failures[row] = Failure(
          row: row, code: isModel ? .modelError : .storeConstraint, message: detail.localizedDescription)
      }
    }
    return failures.values.sorted { $0.row < $1.row }
  }

  private static func objectIDs(in error: NSError) -> [NSManagedObjectID] {
    if let object = error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject { return [object.objectID] }
    return error.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID] ?? []
  }
}
