import Synchronization

/// Whether reads of values are watched: for the queue that they are made on, or for Swift's Observation. Each read tests
/// this one value.
enum WatchedReads {
  private static let flag = Atomic<Bool>(ConcurrencyDebug.isOn)

  static var isOn: Bool { flag.load(ordering: .relaxed) }

  /// For the rest of the program.
  static func begin() { flag.store(true, ordering: .relaxed) }
}
