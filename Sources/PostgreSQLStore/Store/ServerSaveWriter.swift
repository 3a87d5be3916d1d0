import Foundation
import ManagedObjectModel
import PersistentStores

/// The transaction of a save on a store of a server; a savepoint if a transaction is already open.
///
/// It holds the lock of the writing connection from its first statement to its last.
final class ServerSaveWriter: SaveWriter {
  private let store: PostgreSQLStore
  private let connection: PostgreSQLConnection
  private let onlyReads: Bool
  private let isPart: Bool
  private var isOpen = true
  private var resolutions: [InsertionResolution] = []
  private let marks: PostgreSQLStore.Marks
  /// By which the server is asked whether it has committed, where its answer is lost.
  private var name: TransactionName?
  /// Whether that could not be found out: the keys of what may be written are not given again.
  private var hasLostCommit = false

  /// A process that was stopped during a save must not keep others from its rows.
  private static let endingStoppedClients =
    "SELECT set_config('idle_in_transaction_session_timeout', '60s', true) "
    + "WHERE current_setting('idle_in_transaction_session_timeout', true) = '0'"

  init(_ store: PostgreSQLStore, _ changes: ChangeSet) throws {
    self.store = store
    store.writerLock.lock()
    do {
      connection = try store.writingReader().connection
      marks = store.marks
      onlyReads = store.isReadOnly && changes.isEmpty && !store.hasUnsavedMetadata
      if store.isReadOnly, !onlyReads { throw store.readOnlyError }
      isPart = connection.isInTransaction
      try store.checkTransaction(connection)
      if onlyReads, !isPart {
        try connection.send("BEGIN READ ONLY")
      } else {
        try store.begin(connection, isPart: isPart)
        if !isPart { try connection.send(Self.endingStoppedClients) }
      }
    } catch {
      store.writerLock.unlock()
      throw (error as? PostgreSQLError).map { Self.failure($0, store) } ?? error
    }
  }

  func write(_ changes: ChangeSet, _ participants: [any SaveParticipant], whole: ChangeSet) throws {
    if onlyReads, !participants.isEmpty { throw store.readOnlyError }
    do {
      let statements = ServerParticipantStatements(connection: connection)
      let beginning = SaveTransaction(statements, in: store.dialect, whole)
      for participant in participants { try participant.begin(beginning) }
      resolutions = try ChangeWriter(
        store, connection, locksRows: !onlyReads,
        sharesLinks: participants.contains { ($0 as? any LinkSharingParticipant)?.sharesLinks == true }
      ).write(changes)
      let transaction = SaveTransaction(statements, in: store.dialect, whole, inserted: resolutions)
      for participant in participants { try participant.write(to: transaction) }
      if isPart || onlyReads { try connection.finish() } else { name = try store.lookBeforeCommit(connection) }
    } catch let error as PostgreSQLError {
      throw Self.failure(error, store)
    }
  }

  func commit() throws {
    do {
      if isPart { try store.commit(connection, isPart: true) } else { try store.commit(connection, name) }
    } catch let error as PostgreSQLError {
      hasLostCommit = error.lostCommit == .open
      throw Self.failure(error, store)
    }
    end()
  }

  func rollBack() {
    guard isOpen else { return }
    store.rollBack(connection, isPart: isPart)
    if !hasLostCommit { store.goBack(to: marks) }
    end()
  }

  func finish() {
    for one in resolutions { one.range.resolve(one.resolution) }
    store.metadataState.noteSaved()
    store.noteWrite()
  }

  private func end() {
    isOpen = false
    store.writerLock.unlock()
  }

  private static func failure(_ error: PostgreSQLError, _ store: PostgreSQLStore) -> NSError {
    error.coreDataError(.save, "Saving to \(store.location) failed")
  }
}

extension PostgreSQLStore {
  package var takesPackedLinks: Bool { true }

  package func beginSave(of changes: ChangeSet) throws -> any SaveWriter { try ServerSaveWriter(self, changes) }
}
