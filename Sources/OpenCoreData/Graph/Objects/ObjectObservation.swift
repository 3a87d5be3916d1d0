import Observation

/// Swift's Observation. (Swift documentation: withObservationTracking(_:onChange:).) An object gets a registrar when a
/// value of it is read in a context that supports observation, and has none otherwise.
extension NSManagedObject: Observable {
  /// Stands for the property in the key paths of its registrar.
  subscript(observed key: String) -> Bool { true }

  /// A value is about to be read. Called only if reads are watched.
  func watchRead(_ key: String) {
    checkQueue()
    guard let context = managedObjectContext, context.supportsObservation else { return }
    let observation = auxiliary.observation ?? ObjectObservation()
    auxiliary.observation = observation
    observation.noteRead(key, of: self)
  }

  /// All values may have changed, as in a refresh.
  func announceChangeOfAll() {
    guard let observation = auxiliaryIfPresent?.observation else { return }
    for key in observation.keysRead { observation.willChange(key, of: self) }
    for key in observation.keysRead { observation.didChange(key, of: self) }
  }
}

/// The registrar of one object, with the properties that were read.
final class ObjectObservation {
  private let registrar = ObservationRegistrar()
  private(set) var keysRead: Set<String> = []

  func noteRead(_ key: String, of object: NSManagedObject) {
    keysRead.insert(key)
    registrar.access(object, keyPath: \NSManagedObject.[observed: key])
  }

  func willChange(_ key: String, of object: NSManagedObject) {
    registrar.willSet(object, keyPath: \NSManagedObject.[observed: key])
  }

  func didChange(_ key: String, of object: NSManagedObject) {
    registrar.didSet(object, keyPath: \NSManagedObject.[observed: key])
  }
}
