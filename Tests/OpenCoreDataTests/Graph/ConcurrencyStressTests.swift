import Foundation
import SystemSupport
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObjectContext, "Concurrency"; docs/invariants.md): contexts of every shape work
// side by side on one coordinator; a save is in the store whole or not at all; if two contexts have changed one row,
// one of them gets a conflict (NSErrorMergePolicy, 133020). Threads run random operations, each on chains and objects
// of its own, and know the sum of their accepted saves; rows that all of them increment show whether a save was lost.
// `make check-thread` runs the same under the thread sanitizer.

@Suite("Many contexts at once", .overBothStores, .seeded)
struct ConcurrencyStressTests {
  /// What a worker's contexts stand on, and how many of them there are above each other.
  private enum Ground { case coordinator, writer, main }
  private static let workers: [(ground: Ground, levels: Int)] = [
    (.coordinator, 1), (.coordinator, 1), (.coordinator, 2), (.coordinator, 3), (.writer, 1), (.writer, 1),
    (.writer, 2), (.main, 1), (.main, 2),
  ]
  private static let hotRowCount = 2
  private static let steps = 120

  @Test(
    "The store holds what the accepted saves say", .timeLimit(.minutes(30)), arguments: Randomness.seeds(2, long: 60))
  func accepted(seed: UInt64) async throws {
    let folder = try TemporaryFolder()
    let (stack, expected) = try await Self.play(folder, seed: seed, steps: Self.steps)
    #expect(try Self.difference(stack, expected) == nil, "seed \(seed)")
    #expect(try stack.sqlite("PRAGMA integrity_check") == "ok", "seed \(seed)")
    // No key was given twice, and none will be.
    #expect(
      try stack.sqlite("SELECT max(Z_PK) <= (SELECT Z_MAX FROM Z_PRIMARYKEY) FROM ZSESSION") == "1",
      "seed \(seed)")
  }

  @Test("One value that differs is noticed")
  func canary() async throws {
    let folder = try TemporaryFolder()
    let (stack, expected) = try await Self.play(folder, seed: 5, steps: 20)
    try stack.sqlite("UPDATE ZSESSION SET ZRATING = ZRATING + 1 WHERE ZPLACE = 'hot-1'")
    #expect(try Self.difference(stack, expected) != nil)
  }

  /// Plays until all is saved, and says what the store should hold then.
  private static func play(_ folder: TemporaryFolder, seed: UInt64, steps: Int) async throws -> (Stack, [String]) {
    let stack = try Stack(folder)
    let rows = try commonRows(stack)
    let board = StressBoard(stack, hot: rows.dropLast(), contested: rows[hotRowCount], seed: seed)
    let writer = stack.context()
    let main = NSManagedObjectContext(.mainQueue)
    main.parent = writer
    for context in [writer, main] { board.introduce(context, of: -1) }
    var lines = try await withThrowingTaskGroup(of: [String].self) { group in
      for (number, (ground, levels)) in workers.enumerated() {
        group.addTask {
          try await onThread {
            let parent = ground == .coordinator ? nil : ground == .writer ? writer : main
            let worker = StressWorker(number, board, on: parent, levels: levels)
            for _ in 0..<steps { try worker.step() }
            return try worker.finish()
          }
        }
      }
      group.addTask { try await playOnMain(main, board, number: workers.count, steps: steps) }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    try await main.perform { try main.save() }
    try await writer.perform { try writer.save() }
    lines += board.acceptedIncrements.enumerated().map { "hot-\($0)|\($1)" }
    let fought = try stack.sqlite("SELECT ZPLACE, ZRATING FROM ZSESSION WHERE Z_PK = \(board.contested.storeKey ?? 0)")
    #expect(board.wasAttempted(String(fought.prefix { $0 != "|" })), "seed \(seed): \(fought)")
    lines.append(fought)
    return (stack, lines.sorted())
  }

  /// The main actor edits the main-queue context itself, while others save into it from below.
  @MainActor
  private static func playOnMain(
    _ main: NSManagedObjectContext, _ board: StressBoard, number: Int, steps: Int
  ) async throws -> [String] {
    let worker = StressWorker(number, board, playing: main)
    for _ in 0..<steps {
      try worker.step()
      await Task.yield()
    }
    return try worker.finish()
  }

  private static func onThread<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Swift.Result(catching: body)) }
    }
  }

  /// The rows that are counted up, and the one that is fought over.
  private static func commonRows(_ stack: Stack) throws -> [NSManagedObjectID] {
    let context = stack.context()
    return try context.performAndWait {
      let objects = (0...hotRowCount).map { index in
        let object = NSManagedObject.make(stack.entity, in: context)
        object.setValue("hot-\(index)", forKey: "place")
        return object
      }
      try context.save()
      return objects.map(\.objectID)
    }
  }

  /// The first lines that only one side has; nil if there are none.
  private static func difference(_ stack: Stack, _ expected: [String]) throws -> String? {
    let found = try stack.sqlite("SELECT ZPLACE, ZRATING FROM ZSESSION").split(separator: "\n").map(String.init)
    if found.sorted() == expected { return nil }
    let (missing, surplus) = (Set(expected).subtracting(found), Set(found).subtracting(expected))
    return "\(found.count) rows instead of \(expected.count); missing \(missing.sorted().prefix(5)), "
      + "surplus \(surplus.sorted().prefix(5))"
  }
}

/// What the workers of one play share.
final class StressBoard: Sendable {
  let stack: Stack
  let seed: UInt64
  /// Rows that every worker on the coordinator counts up.
  let hot: [NSManagedObjectID]
  /// A row that they all write to, under policies by which one of them wins.
  let contested: NSManagedObjectID
  private let attempts: Locked<Set<String>>
  private let contexts = Locked<[Introduced]>([])
  private let increments: Locked<[Int]>
  private let letters = Locked<[Letter]>([])

  /// The ID of somebody's object, and how its place begins.
  struct Letter: Sendable {
    let id: NSManagedObjectID
    let prefix: String
  }

  private struct Introduced: Sendable {
    weak var context: NSManagedObjectContext?
    let worker: Int
  }

  private static let lettersMax = 64

  init(_ stack: Stack, hot: [NSManagedObjectID], contested: NSManagedObjectID, seed: UInt64) {
    self.stack = stack
    self.hot = hot
    self.contested = contested
    attempts = Locked(["hot-\(hot.count)"])
    self.seed = seed
    increments = Locked(Array(repeating: 0, count: hot.count))
  }

  var acceptedIncrements: [Int] { increments.withLock { $0 } }
  func noteIncrement(_ index: Int) { increments.withLock { $0[index] += 1 } }

  func noteAttempt(_ place: String) { attempts.withLock { _ = $0.insert(place) } }
  func wasAttempted(_ place: String) -> Bool { attempts.withLock { $0.contains(place) } }

  func introduce(_ context: NSManagedObjectContext, of worker: Int) {
    contexts.withLock { contexts in
      contexts.removeAll { $0.context == nil }
      contexts.append(Introduced(context: context, worker: worker))
    }
  }

  func anyContext(notOf worker: Int) -> NSManagedObjectContext? {
    contexts.withLock { contexts in contexts.filter { $0.worker != worker }.randomElement()?.context }
  }

  func send(_ letter: Letter) {
    letters.withLock { letters in
      if letters.count == Self.lettersMax { letters.removeFirst() }
      letters.append(letter)
    }
  }

  func anyLetter(_ random: inout SeededGenerator) -> Letter? {
    let all = letters.withLock { $0 }
    return all.randomElement(using: &random)
  }
}
