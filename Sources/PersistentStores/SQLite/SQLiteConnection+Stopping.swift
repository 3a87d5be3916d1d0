import CSQLite
import Foundation
import ManagedObjectModel

extension SQLiteConnection {
  /// Runs `body`; its statements end with `StopSign.error` soon after `stop` was raised.
  func stopping<Result>(at stop: StopSign, _ body: () throws -> Result) throws -> Result {
    guard !stop.isRaised else { throw StopSign.error }
    // SQLite checks the flag between steps of its virtual machine. The flag outlives the handler, which is removed
    // below.
    sqlite3_progress_handler(
      handle, 4096,
      { sign in
        guard let sign else { return 0 }
        return Unmanaged<StopSign>.fromOpaque(sign).takeUnretainedValue().isRaised ? 1 : 0
      }, Unmanaged.passUnretained(stop).toOpaque())
    defer { sqlite3_progress_handler(handle, 0, nil, nil) }
    do {
      return try withExtendedLifetime(stop) { try body() }
    } catch {
      throw stop.isRaised ? StopSign.error : error
    }
  }

  var changedRowCountTotal: Int64 { sqlite3_total_changes64(handle) }
}
