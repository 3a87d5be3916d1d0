import ManagedObjectModel
import CSQLite
import Dispatch
import Foundation
import Synchronization

/// Checkpoints the WAL on its own thread, in parallel with the writer.
///
/// A checkpoint in parallel with a busy writer rarely catches up, and the WAL restarts only after a complete
/// checkpoint. There are therefore two thresholds: past the first a background checkpoint starts; past the second the
/// writer waits for one.
final class WALCheckpointer: Sendable {
  private static let pagesBeforeCheckpoint = 1000
  /// 64 MB of WAL at 4096 bytes per page.
  private static let pagesMax = 16_384

  private let path: String
  private let queue = DispatchQueue(label: "OpenCoreData checkpoint", qos: .utility)
  private let walPages = Atomic<Int>(0)
  private let pagesAtLastCheckpoint = Atomic<Int>(0)
  private let isRunning = Atomic<Bool>(false)

  init(watching connection: SQLiteConnection, path: String) {
    self.path = path
    connection.watchWAL(self)
  }

  /// Called by SQLite on the writer's thread after a commit.
  func walHasGrown(to pages: Int) { walPages.store(pages, ordering: .relaxed) }

  func didCommit(_ connection: SQLiteConnection) throws {
    let pages = walPages.load(ordering: .relaxed)
    var last = pagesAtLastCheckpoint.load(ordering: .relaxed)
    if pages < last {
      // The WAL has restarted.
      pagesAtLastCheckpoint.store(0, ordering: .relaxed)
      last = 0
    }
    guard pages > last + Self.pagesBeforeCheckpoint else { return }
    if pages > Self.pagesMax {
      waitUntilIdle()
      _ = try connection.rows("PRAGMA wal_checkpoint(PASSIVE)")
      pagesAtLastCheckpoint.store(pages, ordering: .relaxed)
    } else if isRunning.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged {
      pagesAtLastCheckpoint.store(pages, ordering: .relaxed)
      queue.async { self.checkpoint() }
    }
  }

  private func checkpoint() {
    defer { isRunning.store(false, ordering: .releasing) }
    // A failed checkpoint loses nothing: the WAL keeps everything, and the next checkpoint or closing tries again.
    guard let connection = try? SQLiteConnection(path: path, mode: .readWrite) else { return }
    _ = try? connection.rows("PRAGMA wal_checkpoint(PASSIVE)")
  }

  func waitUntilIdle() { queue.sync {} }

  func stop() { waitUntilIdle() }
}

extension SQLiteConnection {
  /// Notifies `checkpointer` of every commit and disables SQLite's automatic checkpoints. The checkpointer must live as
  /// long as the connection is open: the store owns both.
  fileprivate func watchWAL(_ checkpointer: WALCheckpointer) {
    _ = sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        guard let context else { return SQLITE_OK }
        Unmanaged<WALCheckpointer>.fromOpaque(context).takeUnretainedValue().walHasGrown(to: Int(pages))
        return SQLITE_OK
      }, Unmanaged.passUnretained(checkpointer).toOpaque())
  }
}
