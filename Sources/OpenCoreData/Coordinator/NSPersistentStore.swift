import Foundation

/// One store of a coordinator. (Apple documentation: NSPersistentStore.)
///
/// The rows themselves are behind a `RowStore`. Stores of a client's own are subclasses of ``NSIncrementalStore`` or
/// ``NSAtomicStore``; this class is not subclassed directly.
// Unchecked: everything that changes is guarded by the row store or by the coordinator's lock. `rowStore` is set by
// initialisers only.
open class NSPersistentStore: NSObject, @unchecked Sendable {
  /// What keeps the rows.
  final var rowStore: any RowStore {
    guard let rowStoreKept else {
      preconditionFailure("\(Self.self) can't be a store: make it a subclass of NSIncrementalStore or NSAtomicStore.")
    }
    return rowStoreKept
  }
  private var rowStoreKept: (any RowStore)?
  /// The name of the model's configuration whose entities the store has.
  public let configurationName: String
  /// The options that the store was added with; nil for none.
  public let options: [AnyHashable: Any]?
  /// The coordinator that the store was added to; nil after its removal.
  public internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?

  /// The type that the store was added with. A subclass may override it to name its own type.
  open var type: String { adapter?.details.type ?? rowStore.type }

  /// Whether predicates that were made from blocks are evaluated, as the objects are in memory.
  var evaluatesBlocks: Bool { type == NSInMemoryStoreType }

  /// Where the store is kept; nil for one that has no file. Setting it is `setURL(_:for:)` of the coordinator, or, in a
  /// store of a class of the client's own, a note of where the store is now.
  open var url: URL? {
    get { adapter.map(\.details.url) ?? rowStore.url }
    set {
      if let adapter {
        adapter.details.url = newValue
      } else if let newValue {
        persistentStoreCoordinator?.setURL(newValue, for: self)
      }
    }
  }

  /// A store of a class of the client's own may set it in `loadMetadata()`; other stores take it from the options.
  open var isReadOnly: Bool {
    get { adapter?.details.isReadOnly ?? rowStore.isReadOnly }
    set { adapter?.details.isReadOnly = newValue }
  }

  /// The store's UUID. It is set along with `NSStoreUUIDKey` of the metadata; a SQLite store keeps the UUID of its file.
  open var identifier: String {
    get { identity.uuid }
    set { adapter?.setIdentifier(newValue) }
  }
  var identity: StoreIdentity { rowStore.identity }

  /// The metadata of the store, a property list. What is set is written by the next save; see
  /// `NSPersistentStoreCoordinator.setMetadata(_:for:)`.
  ///
  /// A store of a class of the client's own sets all of it in `loadMetadata()`, `NSStoreUUIDKey` included. Its save then
  /// reads here what to write.
  open var metadata: [String: Any] {
    get { adapter?.details.metadata ?? rowStore.metadata }
    set {
      if let adapter {
        adapter.replaceMetadata(newValue)
      } else {
        persistentStoreCoordinator?.setMetadata(newValue, for: self)
      }
    }
  }

  /// A store that is not open yet. `addPersistentStore` of the coordinator calls it for registered classes; a subclass
  /// may override it to prepare itself, and must not read the store's file yet. (Apple documentation: NSPersistentStore,
  /// `init(persistentStoreCoordinator:configurationName:at:options:)`.)
  ///
  /// - Parameters:
  ///   - root: The coordinator that the store is added to.
  ///   - name: The configuration of the model whose entities the store holds; nil for all.
  ///   - url: Where the store is kept.
  ///   - options: The options of `addPersistentStore`.
  public required init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) {
    configurationName = name ?? NSManagedObjectModel.defaultConfigurationName
    self.options = options
    persistentStoreCoordinator = root
    super.init()
    guard let adapter = makeAdapter() else { return }
    adapter.details.url = url
    adapter.details.isReadOnly = (options?[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue ?? false
    rowStoreKept = adapter
    identity.owner = self
  }

  /// A store of this library.
  convenience init(_ rowStore: any RowStore, configurationName: String?, options: [AnyHashable: Any]?) {
    self.init(
      persistentStoreCoordinator: nil, configurationName: configurationName,
      at: rowStore.url ?? URL(fileURLWithPath: "/dev/null"), options: options)
    rowStoreKept = rowStore
    identity.owner = self
  }

  /// The row store of a store class of the client; nil for a class without one.
  func makeAdapter() -> (any ClassStoreAdapter)? { nil }

  /// Nil for a store of this library.
  var adapter: (any ClassStoreAdapter)? { rowStoreKept as? any ClassStoreAdapter }

  /// The store as messages name it.
  var location: String { rowStore.location }

  // MARK: For subclasses

  /// Reads the store's metadata and sets ``metadata``, with a new UUID under `NSStoreUUIDKey` for a store that does not
  /// exist yet. The coordinator calls it once, before anything else is asked of the store.
  ///
  /// - Throws: What keeps the store from being opened; `addPersistentStore` throws the same error.
  open func loadMetadata() throws { throw Self.notOverridden("loadMetadata()", Self.self) }

  /// Called after the store was added to `coordinator`.
  open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

  /// Called before the store is removed from `coordinator`, as long as it can be read.
  open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

  /// The metadata of the store at `url`, which is not open.
  ///
  /// - Throws: What keeps it from being read.
  open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    throw notOverridden("metadataForPersistentStore(with:)", self)
  }

  /// Replaces the metadata of the store at `url`, which is not open.
  ///
  /// - Throws: What keeps it from being written.
  open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    throw notOverridden("setMetadata(_:forPersistentStoreAt:)", self)
  }

  static func notOverridden(_ member: String, _ type: NSPersistentStore.Type) -> NSError {
    .coreData(.operation, "The store class \(type) does not implement \(member). Override it.")
  }
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
    /// A SQLite file. Apple's newer spelling of `NSSQLiteStoreType`.
    public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
    /// A store that ends with its coordinator. Apple's newer spelling of `NSInMemoryStoreType`.
    public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    /// Apple's newer spelling of `NSBinaryStoreType`. This library has no stores of the type.
    public static let binary = StoreType(rawValue: NSBinaryStoreType)
    /// Apple's newer spelling of `NSXMLStoreType`. This library has no stores of the type.
    public static let xml = StoreType(rawValue: NSXMLStoreType)
  }
}
