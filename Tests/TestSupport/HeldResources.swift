import CMalloc
import Foundation

/// What a process holds. The counts are of the whole process: a test that compares them runs in a process of its own.
package struct HeldResources: Sendable {
  package let descriptors: Int
  package let threads: Int
  /// What malloc has given and not got back, with what it keeps for the next allocations of a thread; 0 under a
  /// sanitizer, which has an allocator of its own.
  package let allocatedBytes: Int

  package init() {
    descriptors = Self.openFiles().count
    threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task"))?.count ?? 0
    let heap = mallinfo2()
    allocatedBytes = Int(heap.uordblks) + Int(heap.hblkhd)
  }

  /// What the open descriptors lead to, sorted.
  package static func openFiles() -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    // The listing itself has one that is gone when its target is read.
    return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
      .sorted()
  }
}

/// What grows while something is done again and again.
///
/// It keeps numbers only, in memory that is there from the beginning: texts of each round would be a growth of its own.
package struct Growth {
  private var states: [HeldResources] = []

  /// - Parameter rounds: How many rounds there will be.
  package init(rounds: Int) { states.reserveCapacity(rounds) }

  /// Called after each round.
  package mutating func add() { states.append(HeldResources()) }

  /// What the last third of the rounds holds more than the second third, at its least. What is held for a moment only is
  /// not counted, and neither is what the first third makes once: statements, formatters, queues, and the small blocks
  /// that malloc keeps for each thread.
  ///
  /// - Parameters:
  ///   - bytesPerRoundMax: How much a round may leave.
  ///   - threadsMax: How many threads may be added: a pool may take some more.
  package func problems(bytesPerRoundMax: Int, threadsMax: Int = 16) -> [String] {
    let third = states.count / 3
    guard third > 0 else { return ["there were too few rounds"] }
    func growth(_ value: (HeldResources) -> Int) -> Int {
      (states.suffix(third).map(value).min() ?? 0) - (states.dropLast(third).suffix(third).map(value).min() ?? 0)
    }
    var found: [String] = []
    if growth(\.descriptors) > 0 {
      found.append("\(growth(\.descriptors)) more descriptors, now of \(HeldResources.openFiles())")
    }
    if growth(\.threads) > threadsMax { found.append("\(growth(\.threads)) more threads") }
    let bytes = growth(\.allocatedBytes)
    if bytes > third * bytesPerRoundMax { found.append("\(bytes / third) bytes more with each of \(third) rounds") }
    return found
  }
}
