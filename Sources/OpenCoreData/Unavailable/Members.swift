import Foundation

// Members that do not exist here.

extension NSManagedObjectContext {
  /// Locks the context.
  @available(*, unavailable, message: "A context is used on its queue. Use performAndWait(_:).")
  public func lock() {}
  /// Unlocks the context.
  @available(*, unavailable, message: "A context is used on its queue. Use performAndWait(_:).")
  public func unlock() {}
  /// Locks the context if it is not locked.
  @available(*, unavailable, message: "A context is used on its queue. Use performAndWait(_:).")
  public func tryLock() -> Bool { false }
  /// Runs a block while the context is locked.
  ///
  /// - Throws: What the block throws.
  @available(*, unavailable, message: "A context is used on its queue. Use performAndWait(_:).")
  public func withLock<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }
  /// A new context.
  @available(*, unavailable, message: "Use init(concurrencyType:).")
  public class func new() -> NSManagedObjectContext { NSManagedObjectContext(concurrencyType: .privateQueue) }
  /// Called for an observed key path.
  @available(*, unavailable, message: "Key-value observing is not here. Use changes of an object, or notifications.")
  public func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [String: Any]?, context: Any?
  ) {}
  /// A context from an archive.
  @available(*, unavailable, message: "A context is not archived. Save it, and fetch its objects again.")
  public convenience init?(coder: NSCoder) { return nil }
}

extension NSManagedObjectContext.NotificationKey {
  /// The key of the query generation.
  @available(*, unavailable, message: "Notifications lack it. Ask the context for its queryGenerationToken.")
  public static var queryGeneration: Self { .insertedObjects }
}

extension NSPersistentStoreCoordinator {
  /// Locks the coordinator.
  @available(*, unavailable, message: "A coordinator locks itself. Use performAndWait(_:).")
  public func lock() {}
  /// Unlocks the coordinator.
  @available(*, unavailable, message: "A coordinator locks itself. Use performAndWait(_:).")
  public func unlock() {}
  /// Locks the coordinator if it is not locked.
  @available(*, unavailable, message: "A coordinator locks itself. Use performAndWait(_:).")
  public func tryLock() -> Bool { false }
  /// Runs a block while the coordinator is locked.
  ///
  /// - Throws: What the block throws.
  @available(*, unavailable, message: "A coordinator locks itself. Use performAndWait(_:).")
  public func withLock<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }
  /// Removes a store and its contents in iCloud.
  ///
  /// - Throws: What keeps it from being removed.
  @available(*, unavailable, message: "Apple removed stores in iCloud. Sync with NSPersistentHistoryChangeRequest.")
  public class func removeUbiquitousContentAndPersistentStore(
    at storeURL: URL, options: [AnyHashable: Any]? = nil
  ) throws {}
}

extension NSManagedObject {
  /// The type of what announces changes to SwiftUI and Combine.
  @available(*, unavailable, message: "Combine is not on Linux. Use changes of the object.")
  public typealias ObjectWillChangePublisher = Never
  /// Announces changes to SwiftUI and Combine.
  @available(*, unavailable, message: "Combine is not on Linux. Use changes of the object.")
  public var objectWillChange: Void { () }
}

extension NSEntityDescription {
  /// Lists of properties, each with an index.
  @available(*, unavailable, message: "Use indexes.")
  public var compoundIndexes: [[Any]] { [] }
  /// An entity from an archive.
  @available(*, unavailable, message: "Descriptions are not archived. Load the model with init(contentsOf:).")
  public convenience init?(coder: NSCoder) { return nil }
}

extension NSPropertyDescription {
  /// A description from an archive.
  @available(*, unavailable, message: "Descriptions are not archived. Load the model with init(contentsOf:).")
  public convenience init?(coder: NSCoder) { return nil }
}

extension NSFetchIndexDescription {
  /// A description from an archive.
  @available(*, unavailable, message: "Descriptions are not archived. Load the model with init(contentsOf:).")
  public convenience init?(coder: NSCoder) { return nil }
}

extension NSFetchIndexElementDescription {
  /// A description from an archive.
  @available(*, unavailable, message: "Descriptions are not archived. Load the model with init(contentsOf:).")
  public convenience init?(coder: NSCoder) { return nil }
}

extension NSManagedObjectModel {
  /// A description from an archive.
  @available(*, unavailable, message: "Descriptions are not archived. Load the model with init(contentsOf:).")
  public convenience init?(coder: NSCoder) { return nil }
  /// Names for error messages, by those of the model.
  @available(*, unavailable, message: "Error messages are English. Make texts of the codes and keys.")
  public var localizationDictionary: [String: String]? { nil }
}

extension NSFetchRequest {
  /// A request from an archive.
  @available(*, unavailable, message: "Requests are not archived. Keep the request in the model as a template.")
  public convenience init?(coder: NSCoder) { return nil }
}

extension NSQueryGenerationToken {
  /// A token from an archive.
  @available(*, unavailable, message: "A generation ends with its process. Use setQueryGenerationFrom(_:).")
  public convenience init?(coder: NSCoder) { return nil }
}

extension NSPersistentStore {
  /// The class that migrates stores of this one.
  @available(*, unavailable, message: "Use NSMigrationManager, which migrates all stores.")
  public class func migrationManagerClass() -> AnyClass { NSObject.self }
}
