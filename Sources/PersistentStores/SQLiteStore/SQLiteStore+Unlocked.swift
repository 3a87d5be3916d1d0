import Foundation
import ManagedObjectModel

/// A store that is opened for reading only, of a file that no program had open then: it is read without locks, and its
/// answers are checked. Once another program has begun to write, the file is opened again, with its WAL.
extension SQLiteStore {
  struct UnlockedState {
    var file: UnlockedFile?
    /// Reads that have a connection of the store in use.
    var reads = 0
  }

  /// Runs `body`, which reads on a connection of the store.
  ///
  /// - Throws: The errors of `body`, and `NSError` 134090 if the file was written to meanwhile.
  func checkingFile<Result>(_ body: () throws -> Result) throws -> Result {
    guard isReadOnly, let file = try followedFile() else { return try body() }
    unlocked.withLock { $0.reads += 1 }
    defer { unlocked.withLock { $0.reads -= 1 } }
    return try file.checking(body)
  }

  /// The file, if it is read without locks.
  func followedFile() throws -> UnlockedFile? {
    guard isReadOnly else { return nil }
    let state = unlocked.withLock { $0 }
    // A connection in use can't be closed.
    guard let file = state.file, state.reads == 0, !file.isCurrent else { return state.file }
    return try writerLock.withLock {
      guard let url, try !writingReader().connection.isInTransaction, unlocked.withLock({ $0.file?.isCurrent == false })
      else { return unlocked.withLock { $0.file } }
      try reportingErrors { try move(to: url) }
      return unlocked.withLock { $0.file }
    }
  }
}

/// A cursor over rows of a file that is read without locks.
final class UnlockedCursor: RowCursor {
  private let cursor: any RowCursor
  private let file: UnlockedFile

  /// - Parameter file: Nil for a file that is read with locks.
  static func over(_ cursor: any RowCursor, _ file: UnlockedFile?) -> any RowCursor {
    file.map { UnlockedCursor(cursor, $0) } ?? cursor
  }

  private init(_ cursor: any RowCursor, _ file: UnlockedFile) {
    self.cursor = cursor
    self.file = file
  }

  var store: StoreIdentity? { cursor.store }

  func holdingState<Result>(_ body: () throws -> Result) throws -> Result { try cursor.holdingState(body) }

  func next(into batch: inout ObjectBatch, numbers: inout RowNumbers) throws -> Bool {
    try file.checking { try cursor.next(into: &batch, numbers: &numbers) }
  }

  func nextRows(_ stop: CancellationFlag) throws -> [FetchedRow] { try file.checking { try cursor.nextRows(stop) } }

  func ids(_ keys: [Int64], of entity: NSEntityDescription) -> ObjectIDCollection { cursor.ids(keys, of: entity) }
}
