import Foundation

extension NSManagedObjectContext {
  /// When the block of an asynchronous `perform` starts.
  public enum ScheduledTaskType: Sendable {
    /// At once if the caller is on the context's queue already, else as soon as the queue is free.
    case immediate
    /// After all blocks that wait on the queue.
    case enqueued
  }

  /// Runs `block` on the context's queue later, then `processPendingChanges()`.
  public func perform(_ block: @escaping () -> Void) {
    // Safe: it runs once, on the queue to which all that it may touch of this context is confined. As with Apple's
    // signature the compiler does not look at what else it captures; it does with the asynchronous form.
    nonisolated(unsafe) let block = block
    queue.async {
      Self.$current.withValue(self) { block() }
      self.processPendingChanges()
    }
  }

  /// Runs `block` on the context's queue and waits. Re-entrant: also from a block that waits for this queue.
  public func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result {
    try queue.sync { try Self.$current.withValue(self) { try block() } }
  }

  /// Runs `block` on the context's queue without blocking a thread; gives its value or error back.
  public func perform<Result: Sendable, Failure: Error>(
    schedule: ScheduledTaskType = .immediate, _ block: @escaping @Sendable () throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    if schedule == .immediate, queue.isCurrent { return try asCurrent(block).get() }
    let outcome: Swift.Result<Result, Failure> = await withCheckedContinuation { continuation in
      queue.async {
        let outcome = self.asCurrent(block)
        self.processPendingChanges()
        continuation.resume(returning: outcome)
      }
    }
    return try outcome.get()
  }

  /// The context whose `perform` block is running: what `NSFetchRequest.execute()` asks.
  @TaskLocal static var current: NSManagedObjectContext?

  private func asCurrent<Result, Failure: Error>(
    _ block: () throws(Failure) -> Result
  ) -> Swift.Result<Result, Failure> {
    Self.$current.withValue(self) {
      do throws(Failure) { return .success(try block()) } catch { return .failure(error) }
    }
  }
}
