import Synchronization

/// Whether reads of values are watched: for the queue that they are made on, or for Swift's Observation. Each read tests
/// this one value. If queues are checked, the first context begins it: a value that is computed at the first access would
/// need one more test with each read.
enum WatchedReads {
  private static let flag = Atomic<Bool>(false)

  static var isOn: Bool { flag.load(ordering: .relaxed) }

  /// For the rest of the program.
  static func begin() { flag.store(true, ordering: .relaxed) }
}
