import Dispatch
import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import SystemSupport
import TestSupport
import Testing

// Rules (Apple documentation: performAndWait): a queue is recognised by a key, never by the thread; a block may wait
// for a queue that a waiting caller already holds, whatever queue the caller is on; nothing leaks from one block to the
// next.

@Suite("Waiting for a queue that the caller holds does not deadlock", .overBothStores)
struct QueueTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder)
  }

  private func mainContext(_ parent: NSManagedObjectContext? = nil) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.mainQueue)
    if let parent { context.parent = parent } else { context.persistentStoreCoordinator = stack.coordinator }
    return context
  }

  @Test("From the main queue through a private context back to the main one", .timeLimit(.minutes(1)))
  func mainPrivateMain() async throws {
    let main = mainContext()
    let child = stack.context(main)
    let entity = stack.entity
    // The main queue runs this for a caller that is not a context.
    let depth = try await MainActor.run {
      try child.performAndWait {
        InsertionWay.bulk.insert(0..<3, into: child, entity)
        try child.save()
        return try main.performAndWait { try child.performAndWait { try child.count(for: stack.request()) } }
      }
    }
    #expect(depth == 3)
  }

  @Test("A main context made inside of a private block that the main queue waits for", .timeLimit(.minutes(1)))
  func mainMadeInside() async {
    let writer = stack.context()
    let answer = await MainActor.run {
      writer.performAndWait { mainContext(writer).performAndWait { writer.performAndWait { 7 } } }
    }
    #expect(answer == 7)
  }

  @Test("Through queues of the client's own", .timeLimit(.minutes(1)))
  func clientQueues() {
    let (one, two) = (stack.context(), stack.context())
    let queue = DispatchQueue(label: "client")
    let answer = one.performAndWait {
      queue.sync { two.performAndWait { queue.label.isEmpty ? 0 : one.performAndWait { two.performAndWait { 4 } } } }
    }
    #expect(answer == 4)
  }

  @Test("Deep chains, up and down again", .timeLimit(.minutes(1)))
  func deepChain() throws {
    var contexts = [stack.context()]
    for _ in 0..<7 { contexts.append(stack.context(contexts[contexts.count - 1])) }
    let all = contexts
    func descend(_ level: Int) -> Int {
      all[level].performAndWait { level == 0 ? climb(0) : descend(level - 1) }
    }
    func climb(_ level: Int) -> Int {
      all[level].performAndWait { level == all.count - 1 ? level : climb(level + 1) }
    }
    #expect(descend(7) == 7)
    let top = all[7]
    try top.performAndWait {
      InsertionWay.bulk.insert(0..<5, into: top, stack.entity)
      for context in all.reversed() { try context.performAndWait { try context.save() } }
    }
    #expect(try stack.sqlite("SELECT count(*) FROM ZSESSION") == "5")
  }

  @Test("What a block held is not held after it, on the same thread or another", .timeLimit(.minutes(1)))
  func nothingLeaks() async {
    let (one, two) = (stack.context(), stack.context())
    one.performAndWait {
      #expect(one.queue.isCurrent && !two.queue.isCurrent)
      two.performAndWait { #expect(one.queue.isCurrent && two.queue.isCurrent) }
      #expect(!two.queue.isCurrent)
    }
    #expect(!one.queue.isCurrent)
    let elsewhere = one.performAndWait {
      let answer = Locked<Bool?>(nil)
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        answer.withLock { $0 = one.queue.isCurrent }
        done.signal()
      }
      done.wait()
      return answer.withLock { $0 }
    }
    #expect(elsewhere == false)
    struct Thrown: Error {}
    #expect(throws: Thrown.self) { try one.performAndWait { throw Thrown() } }
    #expect(!one.queue.isCurrent)
  }

  @Test("A background child of a main context fetches and saves while the main queue is free", .timeLimit(.minutes(30)))
  func backgroundChildOfMain() async throws {
    let writer = stack.context()
    let main = mainContext(writer)
    let child = stack.context(main)
    let (stack, entity) = (stack, stack.entity)
    let log = NotificationLog([main])
    try await child.perform {
      InsertionWay.bulk.insert(0..<4, into: child, entity)
      try child.save()
      let found = try child.fetch(stack.request())
      #expect(found.count == 4)
    }
    // The main queue announces what it took over when its turn ends.
    await main.perform {}
    #expect(log.lines == ["0 change inserted 4"])
    let onMain = try await main.perform {
      try main.save()
      return Thread.isMainThread || DispatchQueue.getSpecific(key: DispatchSpecificKey<Int>()) == nil
    }
    #expect(onMain)
    try await writer.perform { try writer.save() }
    #expect(try stack.sqlite("SELECT count(*) FROM ZSESSION") == "4")
  }

  @Test("The immediate form runs at once on the context's own queue, the enqueued one after what waits")
  func schedules() async {
    let context = stack.context()
    let order = Locked<[Int]>([])
    context.performAndWait { context.perform { order.withLock { $0.append(1) } } }
    await context.perform(schedule: .enqueued) { order.withLock { $0.append(2) } }
    await context.perform { order.withLock { $0.append(3) } }
    #expect(order.withLock { $0 } == [1, 2, 3])
  }
}
