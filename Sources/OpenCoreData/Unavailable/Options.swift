import Foundation

// Options, keys and classes for what does not exist here.

/// Whether a binary store may hold any class.
@available(*, unavailable, message: "Stores of NSBinaryStoreType are not supported. Use NSSQLiteStoreType.")
public let NSBinaryStoreInsecureDecodingCompatibilityOption = "NSBinaryStoreInsecureDecodingCompatibilityOption"
/// The classes that a binary store may hold.
@available(*, unavailable, message: "Stores of NSBinaryStoreType are not supported. Use NSSQLiteStoreType.")
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
/// Whether a store is made again from iCloud.
@available(*, unavailable, message: "Apple removed stores in iCloud. Sync with NSPersistentHistoryChangeRequest.")
public let NSPersistentStoreRebuildFromUbiquitousContentOption = "NSPersistentStoreRebuildFromUbiquitousContentOption"
/// Whether a store is separated from iCloud.
@available(*, unavailable, message: "Apple removed stores in iCloud. Sync with NSPersistentHistoryChangeRequest.")
public let NSPersistentStoreRemoveUbiquitousMetadataOption = "NSPersistentStoreRemoveUbiquitousMetadataOption"
/// The container in iCloud.
@available(*, unavailable, message: "Apple removed stores in iCloud. Sync with NSPersistentHistoryChangeRequest.")
public let NSPersistentStoreUbiquitousContainerIdentifierKey = "NSPersistentStoreUbiquitousContainerIdentifierKey"
/// The name of the contents in iCloud.
@available(*, unavailable, message: "Apple removed stores in iCloud. Sync with NSPersistentHistoryChangeRequest.")
public let NSPersistentStoreUbiquitousContentNameKey = "NSPersistentStoreUbiquitousContentNameKey"
/// The location of the contents in iCloud.
@available(*, unavailable, message: "Apple removed stores in iCloud. Sync with NSPersistentHistoryChangeRequest.")
public let NSPersistentStoreUbiquitousContentURLKey = "NSPersistentStoreUbiquitousContentURLKey"
/// The name of this device in iCloud.
@available(*, unavailable, message: "Apple removed stores in iCloud. Sync with NSPersistentHistoryChangeRequest.")
public let NSPersistentStoreUbiquitousPeerTokenOption = "NSPersistentStoreUbiquitousPeerTokenOption"
/// Why a store in iCloud was replaced.
@available(*, unavailable, message: "Apple removed stores in iCloud. Sync with NSPersistentHistoryChangeRequest.")
public let NSPersistentStoreUbiquitousTransitionTypeKey = "NSPersistentStoreUbiquitousTransitionTypeKey"
/// The key of a query generation in notifications.
@available(*, unavailable, message: "Notifications lack it. Ask the context for its queryGenerationToken.")
public let NSManagedObjectContextQueryGenerationKey = "NSManagedObjectContextQueryGenerationKey"
/// The key of the systems that can read a store.
@available(*, unavailable, message: "Stores do not have it here. Use NSStoreModelVersionHashesKey.")
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"

/// Why a store in iCloud was replaced.
@available(*, unavailable, message: "Apple removed stores in iCloud. Sync with NSPersistentHistoryChangeRequest.")
public enum NSPersistentStoreUbiquitousTransitionType: UInt, Sendable {
  /// An account of iCloud was added.
  case accountAdded = 1
}

/// An attribute that consists of others.
@available(*, unavailable, message: "Composite attributes have no elements here. Use one attribute for each.")
// Unchecked as its superclass is.
open class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {}

extension NSNotification.Name {
  /// Posted when changes came from iCloud.
  @available(*, unavailable, message: "Apple removed stores in iCloud. Sync with NSPersistentHistoryChangeRequest.")
  public static var NSPersistentStoreDidImportUbiquitousContentChanges: NSNotification.Name { Self("") }
}
