import Foundation

extension NSManagedObjectContext {
  /// When the block of an asynchronous `perform` starts.
  public enum ScheduledTaskType: Sendable {
    /// Immediately if the caller is already on the context's queue, otherwise as soon as the queue is free.
    case immediate
    /// After all blocks that are waiting on the queue.
    case enqueued
  }

  /// Runs `block` asynchronously on the context's queue, then `processPendingChanges()`. Returns at once. (Apple
  /// documentation: perform(_:).)
  ///
  /// ```swift
  /// context.perform {
  ///   JournalEntry(context: context).location = "Rincon"
  ///   do { try context.save() } catch { context.rollback() }
  /// }
  /// ```
  public func perform(_ block: @escaping () -> Void) {
    // Safe: the block runs once, on the queue to which everything of this context that it may use is confined. As with
    // Apple's signature the compiler does not check its other captures; it does for the asynchronous form.
    nonisolated(unsafe) let block = block
    queue.async {
      Self.$current.withValue(self) { block() }
      self.endEvent()
    }
  }

  /// Runs `block` on the context's queue, waits, and returns its value or throws its error. Re-entrant, also from a
  /// block that waits for this queue. (Apple documentation: performAndWait(_:).)
  ///
  /// ```swift
  /// let locations = try context.performAndWait {
  ///   let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
  ///   return try context.fetch(request).compactMap(\.location)
  /// }
  /// ```
  public func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result {
    try queue.sync { try Self.$current.withValue(self) { try block() } }
  }

  /// Runs `block` on the context's queue without blocking a thread, and returns its value or throws its error. (Apple
  /// documentation: perform(schedule:_:).)
  ///
  /// Return values, or IDs in place of objects: an object stays on the context's queue.
  ///
  /// ```swift
  /// let id = try await context.perform {
  ///   let entry = JournalEntry(context: context)
  ///   entry.location = "Rincon"
  ///   try context.save()
  ///   return entry.objectID
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - schedule: Whether a call from the context's own queue runs `block` immediately.
  ///   - block: The work; its captures and its result are Sendable.
  public func perform<Result: Sendable, Failure: Error>(
    schedule: ScheduledTaskType = .immediate, _ block: @escaping @Sendable () throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    if schedule == .immediate, queue.isCurrent { return try asCurrent(block).get() }
    let outcome: Swift.Result<Result, Failure> = await withCheckedContinuation { continuation in
      queue.async {
        let outcome = self.asCurrent(block)
        self.endEvent()
        continuation.resume(returning: outcome)
      }
    }
    return try outcome.get()
  }

  /// The context whose `perform` block is running; `NSFetchRequest.execute()` uses it.
  @TaskLocal static var current: NSManagedObjectContext?

  private func asCurrent<Result, Failure: Error>(
    _ block: () throws(Failure) -> Result
  ) -> Swift.Result<Result, Failure> {
    Self.$current.withValue(self) {
      do throws(Failure) { return .success(try block()) } catch { return .failure(error) }
    }
  }
}
