import Foundation

// What of Core Data needs CloudKit. A client that names one of these learns from the compiler what to use instead.

/// A container that mirrors its stores to CloudKit.
@available(*, unavailable, message: "CloudKit is not on Linux. Sync with NSPersistentHistoryChangeRequest.")
// Unchecked as its superclass is.
open class NSPersistentCloudKitContainer: NSPersistentContainer, @unchecked Sendable {}

/// Asks for what a container for CloudKit has done.
@available(*, unavailable, message: "CloudKit is not on Linux. Sync with NSPersistentHistoryChangeRequest.")
open class NSPersistentCloudKitContainerEventRequest: NSPersistentStoreRequest {}

/// What such a request finds.
@available(*, unavailable, message: "CloudKit is not on Linux. Sync with NSPersistentHistoryChangeRequest.")
open class NSPersistentCloudKitContainerEventResult: NSPersistentStoreResult {}

/// The database of CloudKit that a store is mirrored to.
@available(*, unavailable, message: "CloudKit is not on Linux. Sync with NSPersistentHistoryChangeRequest.")
open class NSPersistentCloudKitContainerOptions: NSObject {}

/// How a schema for CloudKit is made.
@available(*, unavailable, message: "CloudKit is not on Linux. Sync with NSPersistentHistoryChangeRequest.")
public struct NSPersistentCloudKitContainerSchemaInitializationOptions: Sendable {}

extension NSPersistentStoreDescription {
  /// The database of CloudKit that the store is mirrored to.
  @available(*, unavailable, message: "CloudKit is not on Linux. Sync with NSPersistentHistoryChangeRequest.")
  public var cloudKitContainerOptions: NSObject? { nil }
}
