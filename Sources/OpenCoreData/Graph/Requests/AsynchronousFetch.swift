import Foundation

/// A fetch in three steps: prepared on the context's queue, read on any thread, made into results on the queue again.
///
/// The last step applies the changes that are pending in the chain at that time to the rows.
struct AsynchronousFetch: Sendable {
  enum Reading: Sendable {
    case rows([FetchedRow])
    case dictionaries([DictionaryRow], DictionaryShape, [StoredValue: NSManagedObjectID])
  }

  let stop = CancellationFlag()
  private let coordinator: NSPersistentStoreCoordinator
  private let generation: QueryGeneration?
  /// The query of the context.
  private let query: FetchQuery
  /// The query that the store receives for it.
  private let bottom: FetchQuery
  private let shape: DictionaryShape?
  private let hadChanges: Bool
  private let writeCount: Int64

  private static var rowsPerBatch: Int { 1000 }

  init<ResultType>(_ request: NSFetchRequest<ResultType>, in context: NSManagedObjectContext) throws {
    coordinator = try context.requireCoordinator()
    generation = try context.generationToRead()
    var query = request.rowQuery(try request.query(model: context.model))
    if request.resultType == .countResultType { query.includesValues = false }
    shape = request.resultType == .dictionaryResultType ? try request.dictionaryShape(query) : nil
    self.query = query
    bottom = context.bottomQuery(query)
    hadChanges = query.includesPendingChanges && context.chainHasChanges(touching: query)
    writeCount = try coordinator.writeCount()
  }

  /// Reads the store on any thread, but not on several at once.
  ///
  /// - Parameter progressed: Called from time to time with the number of rows read.
  /// - Throws: The store's error; `CancellationFlag.error` if cancelled.
  func read(_ progressed: (Int) -> Void) throws -> Reading {
    if let shape {
      let rows = try stores.dictionaryRows(query, shape, stop: stop)
      return .dictionaries(rows, shape, try stores.linkedIDs(rows, shape))
    }
    let cursor = try stores.cursor(bottom, rowsPerBatch: Self.rowsPerBatch)
    return try cursor.holdingState {
      var rows: [FetchedRow] = []
      while true {
        let next = try cursor.nextRows(stop)
        if next.isEmpty { return .rows(rows) }
        rows += next
        progressed(rows.count)
      }
    }
  }

  private var stores: StoreReading { StoreReading(coordinator: coordinator, generation: generation) }

  /// The results of `request`, on the context's queue.
  func results<ResultType>(
    of request: NSFetchRequest<ResultType>, _ reading: Reading, in context: NSManagedObjectContext
  ) throws -> [ResultType] {
    guard !stop.isCancelled else { throw CancellationFlag.error }
    switch reading {
    case .dictionaries(let rows, let shape, let ids): return try request.typed(rows.map { $0.dictionary(shape, ids) })
    case .rows(let read):
      let rows = try context.rows(query) { try rowsToReturn($0, read) }
      if request.resultType == .countResultType { return try request.typed([NSNumber(value: rows.count)]) }
      return try context.results(of: request, query, rows)
    }
  }

  /// The rows for the query that the bottom of the chain receives now: those that were read, unless changes that became
  /// pending since need other rows.
  private func rowsToReturn(_ needed: FetchQuery, _ read: [FetchedRow]) throws -> [FetchedRow] {
    let isAlike = needed.offset == bottom.offset && needed.values == bottom.values
    let isWhole = bottom.limit == 0 || read.count < bottom.limit
    let isEnough = isWhole || (needed.limit > 0 && needed.limit <= bottom.limit)
    // Changes that were pending before the read may be saved by now, and are then in neither.
    let hasMoved = try hadChanges && coordinator.writeCount() != writeCount
    guard isAlike, isEnough, !hasMoved else {
      return try stores.rows(needed)
    }
    return needed.limit > 0 ? Array(read.prefix(needed.limit)) : read
  }
}
