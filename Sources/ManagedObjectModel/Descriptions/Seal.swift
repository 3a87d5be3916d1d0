import Synchronization

/// The one-way switch of a model from "being built" to "in use".
///
/// Why the description classes may claim `@unchecked Sendable`: while the seal is open a model belongs to
/// whoever builds it, and reading it writes nothing (no lazy caches). `NSManagedObjectModel.freeze()` fills
/// every cache and then closes the seals with a releasing store; `isClosed` loads with acquire, so a thread
/// that sees a closed seal sees the caches too. The coordinator freezes its model before it hands it to any
/// queue, and after that every setter stops the program, so nothing that is shared can change any more.
package struct Seal: ~Copyable, Sendable {
  private let closed = Atomic<Bool>(false)

  package init() {}

  package var isClosed: Bool { closed.load(ordering: .acquiring) }

  package func close() { closed.store(true, ordering: .releasing) }

  /// Stops the program if the model is in use: Core Data raises the same message.
  package func requireOpen() {
    precondition(!isClosed, "Can't modify an immutable model.")
  }
}

extension String {
  /// Plain byte order of the UTF-8 text: the order in which slots, hashes and columns are sorted, whatever
  /// the locale.
  package static func byteOrder(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }
}
