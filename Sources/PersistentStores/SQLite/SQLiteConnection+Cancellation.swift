import CSQLite
import Foundation
import ManagedObjectModel

extension SQLiteConnection {
  /// Runs `body`; its statements end with `CancellationFlag.error` soon after `stop` is cancelled.
  func stopping<Result>(at stop: CancellationFlag, _ body: () throws -> Result) throws -> Result {
    guard !stop.isCancelled else { throw CancellationFlag.error }
    // SQLite checks the flag between steps of its virtual machine. The flag outlives the handler, which is removed
    // below.
    sqlite3_progress_handler(
      handle, 4096,
      { flag in
        guard let flag else { return 0 }
        return Unmanaged<CancellationFlag>.fromOpaque(flag).takeUnretainedValue().isCancelled ? 1 : 0
      }, Unmanaged.passUnretained(stop).toOpaque())
    defer { sqlite3_progress_handler(handle, 0, nil, nil) }
    do {
      return try withExtendedLifetime(stop) { try body() }
    } catch {
      throw stop.isCancelled ? CancellationFlag.error : error
    }
  }
}
