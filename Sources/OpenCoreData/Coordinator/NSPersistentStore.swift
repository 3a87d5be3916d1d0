import Foundation

/// One store of a coordinator. (Apple documentation: NSPersistentStore.)
// Unchecked: `metadata` is guarded by the coordinator's lock, all else is set before the store is shared.
open class NSPersistentStore: NSObject, @unchecked Sendable {
  public let type: String
  public let url: URL?
  public let configurationName: String
  public let options: [AnyHashable: Any]?
  public let isReadOnly: Bool
  public internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
  /// The store's UUID.
  public var identifier: String { identity.uuid }
  /// The property list in the store's Z_METADATA.
  public internal(set) var metadata: [String: Any]

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
    self.metadata = metadata
  }
}

public let NSSQLiteStoreType = "SQLite"
public let NSInMemoryStoreType = "InMemory"

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
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
