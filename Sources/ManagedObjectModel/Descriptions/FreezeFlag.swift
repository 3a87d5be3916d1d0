import Synchronization

/// The one-way switch of a model from mutable to frozen.
///
/// The description classes can be `@unchecked Sendable` because of it. While the model is mutable, it belongs
/// to the code that builds it, and reading it does not write (there are no lazy caches).
/// `NSManagedObjectModel.freeze()` fills every cache and then sets the flags with a releasing store. `isFrozen` loads
/// with acquire, so a thread that sees the flag set sees the caches too. The coordinator freezes its model before it
/// passes it to any queue, and from then on every setter stops the program, so shared descriptions cannot change. That is
/// also why exclusivity is not checked for the fields that are read for each object.
package struct FreezeFlag: ~Copyable, Sendable {
  private let frozen = Atomic<Bool>(false)

  package init() {}

  package var isFrozen: Bool { frozen.load(ordering: .acquiring) }

  package func set() { frozen.store(true, ordering: .releasing) }

  /// Stops the program if the model is frozen, with the message that Core Data raises.
  package func requireMutable() {
    precondition(!isFrozen, "Can't modify an immutable model.")
  }
}
