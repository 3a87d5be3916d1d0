import Foundation
import PersistentStores

/// Commands that read a store whose write-ahead log is damaged.
package enum DamagedWAL {
  /// The error's message, with the option that a reading command has.
  package static func message(_ error: NSError) -> String {
    error.isOfDamagedWAL
      ? "\(error.localizedDescription) To read what is left, add --damaged-log=ignore." : error.localizedDescription
  }

  /// What a command says that goes on without what the WAL of the store has lost.
  ///
  /// - Parameter loss: What it lacks, as a sentence.
  package static func note(_ loss: String) -> String {
    "\(loss), as a power failure leaves it. The store is used as it was after the last whole transaction before that. "
      + "What this program had reported as done is in it; what other programs saved last may be missing. If the machine "
      + "did not go down, restore the store from a copy"
  }

  /// The option of `addPersistentStore`.
  package static let optionKey = StoreOptions.readsDamagedWALKey
  /// The option that lets a store be read as a program will see it that writes to it.
  package static let beforeWritingKey = StoreOptions.readsBeforeWritingKey
}
