/// What monitoring wants to know in addition to the summary of a run: the state of the inbox, the store and the rejects
/// after it.
package struct RunGauges: Sendable, Hashable {
  /// Inputs that were read to their end, also those that were imported before.
  package var inputsProcessed = 0
  /// Inputs that could not be read, or that the error policy has stopped.
  package var inputsFailed = 0
  /// Inputs that the run has left for the next one.
  package var inputsWaiting = 0
  /// Rejected records that wait for a correction, of all runs of the store; nil where there is no ledger.
  package var rejectsWaiting: Int?
  /// The number of objects of each entity that the pipeline fills; empty where the store was not opened.
  package var entries: [EntryCount] = []
  /// The version of the program; nil if it has not said.
  package var version: String?

  /// The objects of an entity in the store.
  package struct EntryCount: Sendable, Hashable {
    package let entity: String
    package let count: Int
  }
}
