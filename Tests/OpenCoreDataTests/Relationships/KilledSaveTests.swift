import CSQLite
import Foundation
import TestSupport
import Testing

@testable import OpenCoreData
@testable import PersistentStores

// Rules (SQLite documentation: "Atomic Commit"; invariants S1 and F7): a save that moves relationships and files of large
// values happens whole or not at all, whenever its process is killed. No row is ever without its file, and the next
// opening removes what has none.

@Suite("Killed saves of relationships and large values", .serialized, .seeded)
struct KilledSaveTests {
  enum Point: String, CaseIterable, Sendable {
    /// Before a statement.
    case statement
    /// Before a step of SQLite's machine, in the midst of a statement.
    case instruction
  }

  private static let pointsShort = 4

  @Test(
    "kill -9 at any statement and instruction of a save: old or new, never between",
    arguments: AlbumStore.Step.allCases, Point.allCases)
  func killed(step: AlbumStore.Step, kind: Point) async throws {
    let temporary = try TemporaryFolder()
    func copy(_ name: String, of other: String) throws -> AlbumStore {
      let path = temporary.path(name)
      try? FileManager.default.removeItem(atPath: path)
      try FileManager.default.copyItem(atPath: temporary.path(other), toPath: path)
      return AlbumStore(folder: path)
    }
    try temporary.makeFolder("old")
    let original = AlbumStore(folder: temporary.path("old"))
    try original.fill()
    let old = try original.rows()
    let counter = Counter()
    let changed = try copy("new", of: "old")
    try changed.take(step) { counter.attach(to: $0, kind, killsAt: nil) }
    let new = try changed.rows()
    try #require(old != new && counter.count > 10)
    #expect(try original.hasNoLeftovers() && changed.hasNoLeftovers())

    var random = Randomness.generator()
    let rounds = TestLength.rounds(Self.pointsShort, long: kind == .statement ? counter.count : 400)
    let points =
      rounds >= counter.count
      ? Array(1...counter.count) : (0..<rounds).map { _ in Int.random(in: 1...counter.count, using: &random) }
    var committed = 0
    for point in points + [.max] {
      let store = try copy("killed", of: "old")
      let path = store.folder
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, step = step.rawValue as String, kind = kind.rawValue as String, point = point as Int] in
        try KilledSaveTests.take(
          try #require(AlbumStore.Step(rawValue: step)), in: path, killedAt: point,
          of: try #require(Point(rawValue: kind)))
      }
      let found = try store.rows()
      try #require(found == old || found == new, "killed at \(kind) \(point) of \(counter.count)")
      if found == new { committed += 1 }
      let coordinator = try store.open()
      for one in coordinator.persistentStores { try coordinator.remove(one) }
      #expect(try store.rows() == found)
      #expect(try store.hasNoLeftovers(), "killed at \(kind) \(point) of \(counter.count)")
      if found == old, point % 4 == 0 {
        try store.take(step)
        #expect(try store.rows() == new && store.hasNoLeftovers())
      }
    }
    // The last one was killed after its save.
    #expect(committed > 0)
    print("\(step) killed at \(points.count) \(kind)s of \(counter.count), seed \(Randomness.seed)")
  }

  private static func take(_ step: AlbumStore.Step, in folder: String, killedAt point: Int, of kind: Point) throws {
    let counter = Counter()
    try AlbumStore(folder: folder).take(step) { counter.attach(to: $0, kind, killsAt: point) }
    kill(getpid(), SIGKILL)
  }

  /// Counts statements or instructions, and ends the process at one of them.
  private final class Counter {
    private(set) var count = 0
    private var last: Int?

    func attach(to connection: SQLiteConnection, _ kind: Point, killsAt last: Int?) {
      self.last = last
      switch kind {
      case .statement: connection.traceHandler = { [self] _ in step() }
      case .instruction:
        sqlite3_progress_handler(
          connection.handle, 1,
          { context in
            if let context { Unmanaged<Counter>.fromOpaque(context).takeUnretainedValue().step() }
            return 0
          }, Unmanaged.passUnretained(self).toOpaque())
      }
    }

    private func step() {
      count += 1
      if count == last { kill(getpid(), SIGKILL) }
    }
  }
}
