import Foundation

/// One store of a coordinator. (Apple documentation: NSPersistentStore.)
///
/// The rows themselves are behind a `RowStore`.
// Unchecked: everything that changes is guarded by the row store or by the coordinator's lock.
open class NSPersistentStore: NSObject, @unchecked Sendable {
  /// What keeps the rows.
  let rowStore: any RowStore
  public let configurationName: String
  public let options: [AnyHashable: Any]?
  public internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?

  public var type: String { rowStore.type }
  public var url: URL? { rowStore.url }
  public var isReadOnly: Bool { rowStore.isReadOnly }
  /// The store's UUID.
  public var identifier: String { identity.uuid }
  var identity: StoreIdentity { rowStore.identity }

  /// The property list in the store's Z_METADATA. What is set is written by the next save; see
  /// `NSPersistentStoreCoordinator.setMetadata(_:for:)`.
  open var metadata: [String: Any] {
    get { rowStore.metadata }
    set { persistentStoreCoordinator?.setMetadata(newValue, for: self) }
  }

  init(_ rowStore: any RowStore, configurationName: String?, options: [AnyHashable: Any]?) {
    self.rowStore = rowStore
    self.configurationName = configurationName ?? NSManagedObjectModel.defaultConfigurationName
    self.options = options
    super.init()
    identity.owner = self
  }

  /// The store as messages name it.
  var location: String { rowStore.location }
}

extension NSManagedObjectID {
  /// The store that the object is in; nil while the ID is temporary.
  public var persistentStore: NSPersistentStore? { storeIdentity?.owner as? NSPersistentStore }
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
