import Foundation
import OpenCoreData
import PostgreSQLStore

/// What can happen to a store on a server only: a save fails and can be repeated, or its answer is lost.
extension ImportStore {
  /// Whether what has failed is tried again. In a transaction around several saves it is not: what came before is gone.
  func mayRepeat(_ error: NSError) -> Bool { isWritten && !givesKeysInOrder && !isAtomic && error.mayPass }

  /// Waits before the next attempt, and takes the lock again if its connection was lost.
  ///
  /// - Returns: False if there is none.
  func wait(_ backOff: inout BackOff, unless isCancelled: () -> Bool = { false }) -> Bool {
    guard backOff.wait(unless: isCancelled) else { return false }
    held.server?.renew()
    return true
  }

  /// Closes the connections to a server until they are needed again.
  func disconnect() {
    for case let store as PostgreSQLStore in coordinator.rowStores { store.disconnect() }
  }

  var backOff: BackOff { BackOff(seconds: lockTimeoutSeconds) }

  /// `perform` for statements that may be repeated: they write the same each time.
  ///
  /// - Parameter isCancelled: Whether nothing is tried again.
  func performAgain<Result>(
    unless isCancelled: () -> Bool, _ body: (NSPersistentStoreCoordinator) throws -> Result
  ) throws(RunFailure) -> Result {
    var backOff = backOff
    while true {
      do {
        return try body(coordinator)
      } catch let failure as RunFailure {
        throw failure
      } catch {
        guard mayRepeat(error as NSError), wait(&backOff, unless: isCancelled) else {
          throw RunFailure(store: error as NSError, path: path)
        }
      }
    }
  }

  /// Finds out whether a save was committed whose answer was lost: its checkpoint is in the ledger then. It is never
  /// guessed.
  ///
  /// - Parameter entry: The ledger's entry as the save writes it.
  /// - Throws: 75 where the server does not answer in time; the next run finds out by the same means.
  func wasSaved(_ entry: LedgerEntry, _ tables: LedgerTables) throws(RunFailure) -> Bool {
    var backOff = backOff
    while true {
      do {
        try held.server?.waitForSaves()
        guard try tables.layout(in: coordinator) != nil else { return false }
        let row = try coordinator.participantRows(
          "SELECT record, byte, runID FROM \(tables.input) WHERE inputID = ?", [entry.id]
        ).first
        let position = entry.progress.position
        return row?[0] as? Int64 == Int64(position.record) && row?[1] as? Int64 == Int64(position.byteOffset)
          && row?[2] as? String == entry.run
      } catch let failure as RunFailure {
        throw failure
      } catch {
        let error = error as NSError
        guard error.mayPass, wait(&backOff) else {
          throw RunFailure(
            code: nil, exitCode: .temporaryFailure,
            message: "the connection was lost while a chunk was committed, and the server does not say whether it was: "
              + "\(error.localizedDescription) Run it again later; the ledger shows what is there",
            concernsStore: true)
        }
      }
    }
  }

  /// The key of the first entry of those that the last save of an input has inserted.
  func firstKey(ofLast count: Int, input: Int64, _ tables: LedgerTables) throws -> Int64? {
    if count == 0 { return nil }
    let last =
      try coordinator.participantRows(
        "SELECT MAX(lastKey) FROM \(tables.inserted) WHERE inputID = ?", [input]
      ).first?.first as? Int64
    return last.map { $0 - Int64(count) + 1 }
  }
}
