import Foundation
import OpenCoreData
import Testing

/// A save on another thread whose transaction stays open while a test does something else.
final class HeldSave: SaveParticipant {
  /// How long a thread waits for another one before the test fails.
  static let patience = DispatchTimeInterval.seconds(20)

  private let hasWritten = DispatchSemaphore(value: 0)
  private let mayCommit = DispatchSemaphore(value: 0)

  func write(to transaction: SaveTransaction) throws {
    hasWritten.signal()
    guard mayCommit.wait(timeout: .now() + Self.patience) == .success else {
      throw WaitedTooLong(what: "the test to let the save end")
    }
  }

  struct WaitedTooLong: Error {
    let what: String
  }

  /// Changes something in a new context and saves it; runs `body` when the changes are written and not committed.
  ///
  /// Where `body` waits for the save, the save fails.
  static func during<Result>(
    _ coordinator: NSPersistentStoreCoordinator,
    change: @escaping @Sendable (NSManagedObjectContext) throws -> Void, _ body: () throws -> Result
  ) throws -> Result {
    let held = HeldSave()
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    let outcome = Noted<String>()
    let hasEnded = DispatchSemaphore(value: 0)
    coordinator.addSaveParticipant(held)
    let thread = Thread {
      do {
        try context.performAndWait {
          try change(context)
          try context.save()
        }
        outcome.set("saved")
      } catch {
        outcome.set("\(error)")
        held.hasWritten.signal()
      }
      hasEnded.signal()
    }
    thread.start()
    guard held.hasWritten.wait(timeout: .now() + patience) == .success else {
      throw WaitedTooLong(what: "the save to begin")
    }
    let result = Swift.Result { try body() }
    held.mayCommit.signal()
    guard hasEnded.wait(timeout: .now() + patience) == .success else {
      throw WaitedTooLong(what: "the save to end")
    }
    coordinator.removeSaveParticipant(held)
    #expect(outcome.value == "saved")
    return try result.get()
  }
}

/// Work on a thread of its own.
final class Background: Sendable {
  private let hasEnded = DispatchSemaphore(value: 0)
  private let failure = Noted<String>()

  init(_ body: @escaping @Sendable () throws -> Void) {
    let (hasEnded, failure) = (hasEnded, failure)
    Thread {
      do { try body() } catch { failure.set("\(error)") }
      hasEnded.signal()
    }.start()
  }

  /// Whether the work ends within so many milliseconds.
  func ends(within milliseconds: Int) -> Bool {
    guard hasEnded.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else { return false }
    hasEnded.signal()
    return true
  }

  /// Waits for the end of work that succeeds.
  func expectEnd() {
    #expect(ends(within: 20_000), "the work has not ended")
    #expect(failure.value == nil)
  }
}
