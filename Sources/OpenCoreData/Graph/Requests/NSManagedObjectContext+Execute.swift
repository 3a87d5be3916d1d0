import Foundation

/// The result of a request. (Apple documentation: NSPersistentStoreResult.)
open class NSPersistentStoreResult: NSObject {}

/// A request that a context executes without its objects.
protocol ContextRequest: NSPersistentStoreRequest {
  func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
}

extension NSManagedObjectContext {
  /// Sends `request` to the stores without the objects of this context: an asynchronous fetch, or a batch insertion,
  /// update or deletion.
  ///
  /// Batch requests do not update the objects of contexts: refresh them, or merge the IDs that a request with the
  /// matching result type returns.
  ///
  /// - Throws: `NSError` for a request that does not match the model, or the store's error.
  @discardableResult
  public func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    checkQueue()
    guard let request = request as? any ContextRequest else {
      throw NSError.coreData(
        .coreData,
        "A request of the class \(type(of: request)) can't be executed. Use an asynchronous fetch, a batch request, or "
          + "fetch(_:) of the context.")
    }
    try endLinks()
    try beforeReading?()
    return try request.run(in: self)
  }
}

extension NSPersistentStoreCoordinator {
  /// Sends `request` to the stores for `context`, on whose queue this is called.
  ///
  /// - Throws: `NSError` 134060 for a context of another coordinator, and as `execute(_:)` of the context.
  @discardableResult
  public func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
    guard context.persistentStoreCoordinator === self else {
      throw NSError.coreData(
        .coreData,
        "The request can't be executed: the context has another coordinator, or none. Give a context of this one.")
    }
    return try context.execute(request)
  }
}
