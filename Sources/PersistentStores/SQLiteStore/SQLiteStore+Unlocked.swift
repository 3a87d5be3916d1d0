import Foundation
import ManagedObjectModel

/// A store that is opened for reading only, of a file that no program had open then: it is read without locks, and its
/// answers are checked. Once another program has begun to write, the file is opened again, with its WAL.
extension SQLiteStore {
  struct UnlockedState {
    var file: UnlockedFile?
    /// The copy to read if the file itself can't be read without changing it.
    var copy: PrivateCopy?
    /// Reads that have a connection of the store in use.
    var reads = 0
  }

  /// Runs `body`, which reads on a connection of the store.
  ///
  /// - Throws: The errors of `body`, and `NSError` 134090 if the file was written to meanwhile.
  func checkingFile<Result>(_ body: () throws -> Result) throws -> Result {
    guard isReadOnly else { return try body() }
    guard let file = try followedFile() else { return try checkingCopy(body) }
    unlocked.withLock { $0.reads += 1 }
    defer { unlocked.withLock { $0.reads -= 1 } }
    return try file.checking(body)
  }

  /// As `checkingFile`; where the file was written to meanwhile, it is opened with locks and read again. `body` must only
  /// return what it reads.
  func readingAgain<Result>(_ body: () throws -> Result) throws -> Result {
    for attempt in 1..<Self.readsMax {
      guard let file = try followedFile() else { break }
      do { return try checkingFile(body) } catch  where (try? file.isUnchanged) == false {
        // Another thread may still read it, and then it can't be opened again.
        usleep(UInt32(attempt * 1000))
      }
    }
    return try checkingFile(body)
  }

  private static let readsMax = 10

  private func checkingCopy<Result>(_ body: () throws -> Result) throws -> Result {
    guard let copy = unlocked.withLock({ $0.copy }) else { return try body() }
    return try copy.checking(body)
  }

  /// What other programs may change during a read.
  func checkedSource() throws -> (any CheckedSource)? {
    guard isReadOnly else { return nil }
    return try followedFile() ?? unlocked.withLock { $0.copy }
  }

  /// The file, if it is read without locks.
  func followedFile() throws -> UnlockedFile? {
    guard isReadOnly else { return nil }
    let state = unlocked.withLock { $0 }
    // A connection in use can't be closed.
    guard let file = state.file, state.reads == 0, try reportingErrors({ try !file.isCurrent }) else {
      return state.file
    }
    return try writerLock.withLock {
      guard let url, try !writingReader().connection.isInTransaction,
        try reportingErrors({ try unlocked.withLock { try $0.file?.isCurrent == false } })
      else { return unlocked.withLock { $0.file } }
      try reportingErrors { try move(to: url) }
      return unlocked.withLock { $0.file }
    }
  }
}

/// A cursor over rows of a source that other programs may change.
final class CheckedCursor: RowCursor {
  private let cursor: any RowCursor
  private let source: any CheckedSource

  /// - Parameter source: Nil for a file that is read with locks.
  static func over(_ cursor: any RowCursor, _ source: (any CheckedSource)?) -> any RowCursor {
    source.map { CheckedCursor(cursor, $0) } ?? cursor
  }

  private init(_ cursor: any RowCursor, _ source: any CheckedSource) {
    self.cursor = cursor
    self.source = source
  }

  var store: StoreIdentity? { cursor.store }

  func holdingState<Result>(_ body: () throws -> Result) throws -> Result { try cursor.holdingState(body) }

  func next(into batch: inout ObjectBatch, numbers: inout RowNumbers) throws -> Bool {
    try source.checking { try cursor.next(into: &batch, numbers: &numbers) }
  }

  func nextRows(_ stop: CancellationFlag) throws -> [FetchedRow] { try source.checking { try cursor.nextRows(stop) } }

  func ids(_ keys: [Int64], of entity: NSEntityDescription) -> ObjectIDCollection { cursor.ids(keys, of: entity) }
}
