import Dispatch
import Foundation
import OpenCoreData
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObjectContext, perform, performAndWait): perform runs later on the context's
// queue and announces changes after the block; performAndWait is synchronous and re-entrant; the asynchronous form
// gives values and errors back. A main-queue context lives on the real main thread.

@Suite("Code runs on its context's queue", .overBothStores)
struct PerformTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder)
  }

  private static let mainKey: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()
  private static var isOnMainQueue: Bool { DispatchQueue.getSpecific(key: mainKey) ?? false }

  private struct Odd: Error, Equatable {}

  @Test(
    "performAndWait is re-entrant, also through parent, child and parent again on one thread", .timeLimit(.minutes(1)))
  func reentrancy() {
    let parent = stack.context()
    let child = stack.context(parent)
    let depth = parent.performAndWait {
      parent.performAndWait {
        child.performAndWait { parent.performAndWait { child.performAndWait { 5 } } }
      }
    }
    #expect(depth == 5)
  }

  @Test("A coordinator's block gives its value or error back, too")
  func coordinator() async throws {
    let coordinator = stack.coordinator
    let count = await coordinator.perform { coordinator.persistentStores.count }
    #expect(count == 1)
    #expect(coordinator.performAndWait { coordinator.persistentStores.count } == 1)
    await #expect(throws: Odd()) { try await coordinator.perform { throw Odd() } }
  }

  @Test("A child's fetch and save inside a block of its parent's do not wait for each other", .timeLimit(.minutes(1)))
  func childInsideParent() throws {
    let parent = stack.context()
    let child = stack.context(parent)
    try parent.performAndWait {
      try child.performAndWait {
        InsertionWay.single.insert(0..<2, into: child, stack.entity)
        try child.save()
      }
      let count = try parent.count(for: stack.request())
      #expect(count == 2)
    }
  }

  @Test("Values and errors come back from both forms")
  func valuesAndErrors() async throws {
    let context = stack.context()
    #expect(context.performAndWait { 3 } == 3)
    #expect(throws: Odd()) { try context.performAndWait { throw Odd() } }
    #expect(await context.perform { 4 } == 4)
    #expect(await context.perform(schedule: .enqueued) { 5 } == 5)
    await #expect(throws: Odd.self) { try await context.perform { () throws -> Int in throw Odd() } }
  }

  @Test("Blocks of perform run in order, and their changes are announced after each", .timeLimit(.minutes(1)))
  func ordered() throws {
    let context = stack.context()
    let entity = stack.entity
    let log = NotificationLog([context])
    for index in 0..<3 {
      context.perform { InsertionWay.single.insert(index..<(index + 1), into: context, entity) }
    }
    context.performAndWait {}
    #expect(log.lines == Array(repeating: "0 change inserted 1", count: 3))
  }

  // That the main queue is drained by the real main thread is up to the program: the tests of the command prove it.
  @Test("A main-queue context runs on the main queue, wherever it is asked from", .timeLimit(.minutes(30)))
  func mainQueue() async {
    let context = NSManagedObjectContext(concurrencyType: .mainQueue)
    context.persistentStoreCoordinator = stack.coordinator
    let onMain = await withCheckedContinuation { (answer: CheckedContinuation<Bool, Never>) in
      DispatchQueue.global().async { answer.resume(returning: context.performAndWait { Self.isOnMainQueue }) }
    }
    #expect(onMain)
    #expect(await context.perform { Self.isOnMainQueue })
    let nested = await MainActor.run { context.performAndWait { Self.isOnMainQueue } }
    #expect(nested)
  }

  @Test("Many contexts at once, on one coordinator and through a chain, lose nothing", .timeLimit(.minutes(30)))
  func stress() async throws {
    let writer = stack.context()
    let (stack, entity) = (stack, stack.entity)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          for round in 0..<10 {
            let context = worker.isMultiple(of: 2) ? stack.context() : stack.context(writer)
            let way = InsertionWay.allCases[round % 2]
            try await context.perform {
              way.insert((worker * 1000 + round * 10)..<(worker * 1000 + round * 10 + 10), into: context, entity)
              try context.save()
              _ = try context.count(for: stack.request())
            }
            try await writer.perform { try writer.save() }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try stack.sqlite("SELECT count(*), count(DISTINCT ZPLACE), max(Z_PK) FROM ZSESSION") == "800|800|800")
  }
}
