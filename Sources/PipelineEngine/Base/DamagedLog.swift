import Foundation
import PersistentStores

/// Commands that read a store whose write-ahead log is damaged.
package enum DamagedLog {
  /// The error's message, with the option that a reading command has.
  package static func message(_ error: NSError) -> String {
    error.isOfDamagedWAL
      ? "\(error.localizedDescription) To read what is left, add --damaged-log=ignore." : error.localizedDescription
  }

  /// The option of `addPersistentStore`.
  package static let optionKey = StoreOptions.readsDamagedWALKey
}
