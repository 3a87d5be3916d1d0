import ManagedObjectModel
import Foundation

/// The type of stores in SQLite files.
public let NSSQLiteStoreType = "SQLite"
/// The type of stores that are kept in memory and end with their coordinator.
public let NSInMemoryStoreType = "InMemory"
/// Apple's type of stores in binary property lists. This library has no such stores; it recognises the name.
// Names of Apple's other types. This library has no stores of them.
public let NSBinaryStoreType = "Binary"
/// Apple's type of stores in XML files. This library has no such stores; it recognises the name.
public let NSXMLStoreType = "XML"

extension URL {
  /// Whether both name the same file, with symbolic links resolved.
  package func isSameFile(as other: URL?) -> Bool {
    standardizedFileURL.resolvingSymlinksInPath() == other?.standardizedFileURL.resolvingSymlinksInPath()
  }
}

/// Opens the store for reading only; a Boolean.
// Options of addPersistentStore.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// SQLite's pragmas for the connection: a dictionary of their values by name.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Whether a new store may lack the triggers of derived attributes and the R-tree indexes whose texts in Apple's stores
/// are not known. This library computes such derived attributes while it writes; Apple's framework would not maintain
/// them in this file. Without the option, a model that has them is refused. An extension of this library, not in Core
/// Data.
public let OCDIncompleteSchemaOption = "OCDIncompleteSchemaOption"
/// How long to wait for a lock of the store, in seconds.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// Makes SQLite gather statistics for its query planner when the store is opened.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Makes SQLite rebuild the file without its free pages when the store is opened.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Opens a store of another version of the model as if it had this version.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// Migrates a store of another version of the model when it is added; a Boolean.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Whether the migration may infer its mapping from both models; a Boolean.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"

/// The maximum number of reading connections in addition to the writing one, an NSNumber of at least 1. Default 4.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"

/// Whether a store keeps a history of its changes. Without the option a store that has a history continues it. (Apple
/// documentation: NSPersistentHistoryTrackingKey.)
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"

/// Whether the coordinator announces writes to the store, of other processes too, by `NSPersistentStoreRemoteChange`.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey = "NSPersistentStoreRemoteChangeNotificationOptionKey"

/// Accepted without effect.
// Options that are accepted and have no effect (Deviations), so that code which sets them compiles.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// Accepted without effect: Linux has no file protection classes.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
