import Foundation
import ManagedObjectModel

/// The transaction of a save on a SQLite store; a savepoint if a transaction is already open.
///
/// It holds the lock of the writing connection from its first statement to its last.
final class SQLiteSaveWriter: SaveWriter {
  private let store: SQLiteStore
  private let connection: SQLiteConnection
  private let onlyReads: Bool
  private let isNested: Bool
  private var isOpen = true
  private var resolutions: [InsertionResolution] = []
  /// Where the files of this save begin among those of the transaction.
  private var filesStart = 0

  init(_ store: SQLiteStore, _ changes: ChangeSet) throws {
    self.store = store
    store.writerLock.lock()
    do {
      // Rows of a store that is only read are compared with what the file has now.
      _ = try store.followedFile()
      connection = try store.writingReader().connection
      onlyReads = store.isReadOnly && store.takesWithoutWriting(changes)
      if store.isReadOnly, !onlyReads { throw store.readOnlyError }
      isNested = connection.isInTransaction
      try store.checkTransaction(connection)
      filesStart = store.externalFiles.position
      if isNested || onlyReads {
        try connection.execute(isNested ? "SAVEPOINT save" : "BEGIN")
      } else {
        try connection.beginWriting()
      }
    } catch {
      store.writerLock.unlock()
      throw (error as? SQLiteError).map { Self.failure($0, store) } ?? error
    }
  }

  func write(_ changes: ChangeSet, _ participants: [any SaveParticipant], whole: ChangeSet) throws {
    if onlyReads, !participants.isEmpty { throw store.readOnlyError }
    do {
      let statements = SQLiteParticipantStatements(connection: connection)
      let beginning = SaveTransaction(statements, in: store.dialect, whole)
      for participant in participants { try participant.begin(beginning) }
      resolutions = try store.write(changes, connection)
      let transaction = SaveTransaction(statements, in: store.dialect, whole, inserted: resolutions)
      for participant in participants { try participant.write(to: transaction) }
    } catch let error as SQLiteError {
      throw Self.failure(error, store)
    }
  }

  func commit() throws {
    do {
      if isNested {
        try connection.execute("RELEASE save")
      } else {
        try store.syncExternalFiles()
        try store.commit(connection)
      }
    } catch let error as SQLiteError {
      throw Self.failure(error, store)
    }
    end()
  }

  func rollBack() {
    guard isOpen else { return }
    if !isNested {
      try? connection.rollBack()
    } else if connection.isInTransaction {
      try? connection.execute("ROLLBACK TO save; RELEASE save")
    }
    store.externalFiles.discard(from: filesStart)
    end()
  }

  func finish() {
    for one in resolutions { one.range.resolve(one.resolution) }
    store.metadataState.noteSaved()
    store.noteWrite()
    store.writerLock.withLock { store.removeReleasedFiles() }
    // The rows are committed. A failed checkpoint is repeated after the next commit and at closing.
    try? store.didCommit()
  }

  private func end() {
    isOpen = false
    store.writerLock.unlock()
  }

  private static func failure(_ error: SQLiteError, _ store: SQLiteStore) -> NSError {
    .sqlite(error, .save, message: "Saving to \(store.location) failed")
  }
}

/// Runs the statements of save participants on the writing connection.
struct SQLiteParticipantStatements: ParticipantStatements {
  let connection: SQLiteConnection

  func run(_ sql: String, _ values: [StoredValue]) throws -> Int {
    try reportingErrors {
      try connection.run(sql, values)
      return connection.changedRowCount
    }
  }

  func rows(_ sql: String, _ values: [StoredValue]) throws -> [[StoredValue]] {
    try reportingErrors { try connection.rows(sql, values) }
  }

  private func reportingErrors<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .sqlite, message: "A save participant's statement failed")
    }
  }
}
