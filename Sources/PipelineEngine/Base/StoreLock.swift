import Foundation
import SystemSupport
import OpenCoreData
import PersistentStores
import PostgreSQLStore

/// Allows one run at a time on a store: a lock on a file next to it, or a lock in its database.
package enum StoreLock: Sendable {
  case file(RunLock)
  case server(ServerRunLock)

  /// Takes the lock, or throws at once and names the holder.
  ///
  /// - Parameters:
  ///   - timeoutSeconds: How long to wait for a server.
  ///   - onlyLooks: Whether nothing is saved under the lock: a run that has lost it can take it again then.
  /// - Throws: 75 with the holder's name where it is held; 69, 73, 74 or 77 where it can't be taken.
  package init(
    _ store: StoreLocation, _ vocabulary: DefinitionVocabulary, pipeline: String, now: Date,
    timeoutSeconds: Double = StoreOptions.timeoutSecondsDefault, onlyLooks: Bool = false
  ) throws(RunFailure) {
    if let path = store.path {
      self = .file(try RunLock(storePath: path, pipeline: pipeline, now: now))
    } else {
      self = .server(
        try ServerRunLock(
          store, vocabulary, pipeline: pipeline, now: now, timeoutSeconds: timeoutSeconds, onlyLooks: onlyLooks))
    }
  }

  /// What takes part in every save, to refuse those of a run that has lost its lock; nil where a lock is not lost.
  package var fence: (any SaveParticipant)? { server }

  /// The lock in a database; nil for a file.
  var server: ServerRunLock? {
    if case .server(let lock) = self { lock } else { nil }
  }

  /// Allows the next run; later calls do nothing.
  package func release() {
    switch self {
    case .file(let lock): lock.release()
    case .server(let lock): lock.release()
    }
  }
}

/// The lock of a run on a store in a database. As a save participant it refuses the saves of a run that has lost it.
package final class ServerRunLock: SaveParticipant {
  private let lock: ServerLock
  private let store: StoreLocation

  init(
    _ store: StoreLocation, _ vocabulary: DefinitionVocabulary, pipeline: String, now: Date, timeoutSeconds: Double,
    onlyLooks: Bool
  ) throws(RunFailure) {
    self.store = store
    let url = try store.url()
    do {
      lock = try ServerLock(
        at: url, table: "\(vocabulary.ledgerPrefix)LOCK", holder: LockHolder(pipeline: pipeline, since: now).line,
        timeoutSeconds: timeoutSeconds, onlyLooks: onlyLooks)
    } catch let held as ServerLock.Held {
      let holder = held.holder.flatMap(LockHolder.init(line:))?.description ?? "another process"
      throw RunFailure(
        code: nil, exitCode: .temporaryFailure, message: "\(store.shown) is in use by \(holder); try again later")
    } catch {
      throw RunFailure(store: error as NSError)
    }
  }

  package func begin(_ transaction: SaveTransaction) throws {
    try lock.check(in: transaction) { [self] in lost(to: $0) }
  }

  private func lost(to line: String?) -> RunFailure {
    let holder = line.flatMap(LockHolder.init(line:))?.description ?? "another process"
    return RunFailure(
      code: nil, exitCode: .temporaryFailure,
      message: "the connection that held the lock of \(store.shown) was lost, and \(holder) has taken over. What this "
        + "run had saved is kept; run it again later",
      concernsStore: true)
  }

  /// Waits until the server has ended the saves of this run: one whose answer was lost may still be in progress.
  func waitForSaves() throws {
    do {
      try lock.waitForSaves()
    } catch let held as ServerLock.Held {
      throw lost(to: held.holder)
    }
  }

  package func write(to transaction: SaveTransaction) throws {}

  /// Takes the lock again where its connection was lost.
  func renew() { lock.renew() }

  func release() { lock.release() }
}

/// The lock that a run holds, for what is made before it is taken.
final class HeldLock: Sendable {
  private let lock = Locked<StoreLock?>(nil)

  /// The lock in a database; nil for a file, and before it is taken.
  var server: ServerRunLock? { lock.withLock { $0 }?.server }

  func hold(_ taken: StoreLock?) { lock.withLock { $0 = taken } }
}
