import Foundation

/// The save on a store of a client's own class. Such a store has no transactions: what it takes, it has written.
final class AdapterSaveWriter: SaveWriter {
  private let adapter: StoreAdapter

  init(_ adapter: StoreAdapter) { self.adapter = adapter }

  func write(_ changes: ChangeSet, _ participants: [any SaveParticipant], whole: ChangeSet) throws {
    guard participants.isEmpty else { throw adapter.unsupported("save participants") }
    try adapter.write(changes)
    adapter.details.hasUnsavedMetadata = false
  }

  func commit() throws {}
  func finish() { adapter.noteWrite() }
  func rollBack() {}
}
