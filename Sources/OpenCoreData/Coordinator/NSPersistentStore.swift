import Foundation

/// One store of a coordinator. (Apple documentation: NSPersistentStore.)
// Unchecked: the URL and the metadata are guarded by the coordinator's lock, all else is set before the store is shared.
open class NSPersistentStore: NSObject, @unchecked Sendable {
  public let type: String
  public internal(set) var url: URL?
  public let configurationName: String
  public let options: [AnyHashable: Any]?
  public let isReadOnly: Bool
  public internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
  /// The store's UUID.
  public var identifier: String { identity.uuid }
  /// The property list in the store's Z_METADATA. What is set is written by the next save; see
  /// `NSPersistentStoreCoordinator.setMetadata(_:for:)`.
  open var metadata: [String: Any] {
    get { persistentStoreCoordinator?.metadata(for: self) ?? metadataKept }
    set { persistentStoreCoordinator?.setMetadata(newValue, for: self) }
  }
  var metadataKept: [String: Any]

  let identity: StoreIdentity

  init(
    type: String, url: URL?, configurationName: String?, options: [AnyHashable: Any]?, isReadOnly: Bool,
    identity: StoreIdentity, metadata: [String: Any]
  ) {
    self.type = type
    self.url = url
    self.configurationName = configurationName ?? NSManagedObjectModel.defaultConfigurationName
    self.options = options
    self.isReadOnly = isReadOnly
    self.identity = identity
    metadataKept = metadata
    super.init()
    identity.store = self
  }

  /// The store as messages name it.
  var place: String { url?.path ?? "the store in memory" }
}

public let NSSQLiteStoreType = "SQLite"
public let NSInMemoryStoreType = "InMemory"

extension URL {
  /// Whether both name one file, whatever links the way to it has.
  func isSameFile(as other: URL?) -> Bool {
    standardizedFileURL.resolvingSymlinksInPath() == other?.standardizedFileURL.resolvingSymlinksInPath()
  }
}

extension NSPersistentStore {
  /// The kinds of stores.
  public struct StoreType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
    public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
  }
}

// Options of addPersistentStore.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// Has SQLite gather statistics for its choice of indexes while the store is opened.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Has SQLite rebuild the file without its free pages while the store is opened.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Opens a store of another version of the model as if it were of this one.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"

// Options that are taken and have no effect (Deviations), so that code which sets them compiles.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey = "NSPersistentStoreRemoteChangeNotificationOptionKey"
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
