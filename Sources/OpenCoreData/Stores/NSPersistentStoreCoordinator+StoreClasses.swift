import Foundation

/// Stores of classes of the client's own. (Apple documentation: NSPersistentStoreCoordinator, "Registering and
/// Unregistering Store Types".)
extension NSPersistentStoreCoordinator {
  /// From now on stores of the type `storeType` are objects of `storeClass`, in every coordinator of the program.
  ///
  /// ```swift
  /// NSPersistentStoreCoordinator.registerStoreClass(FolderStore.self, forStoreType: "Folder")
  /// ```
  ///
  /// - Parameters:
  ///   - storeClass: A subclass of ``NSIncrementalStore`` or ``NSAtomicStore``; nil takes the registration back. Another
  ///     class stops the program.
  ///   - storeType: The name of the type, which is not that of a store type of this library.
  public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
    precondition(
      RowStoreKinds.all[storeType] == nil,
      "The store type \(storeType) is the library's own; choose another name.")
    let known: NSPersistentStore.Type? =
      (storeClass as? NSIncrementalStore.Type) ?? (storeClass as? NSAtomicStore.Type)
    precondition(
      storeClass == nil || known != nil,
      "\(storeClass.map { "\($0)" } ?? "") can't be a store class: it is not a subclass of NSIncrementalStore or "
        + "NSAtomicStore.")
    StoreClasses.register(known, storeType)
  }

  /// Apple's newer spelling.
  public class func registerStoreClass(_ storeClass: AnyClass?, type storeType: NSPersistentStore.StoreType) {
    registerStoreClass(storeClass, forStoreType: storeType.rawValue)
  }

  /// The class of each store type, those of this library included.
  public class var registeredStoreTypes: [String: NSPersistentStore.Type] {
    let own = RowStoreKinds.all.mapValues { _ in NSPersistentStore.self }
    return StoreClasses.all.merging(own) { $1 }
  }

  /// Makes a store of a registered class, and loads it. The caller holds the lock.
  ///
  /// - Throws: What the class throws; `NSError` 134080 for a store without a UUID, 134010 for one of another type, 134100
  ///   for one of another model.
  func open(
    _ storeClass: NSPersistentStore.Type, type: String, configuration: String?, at url: URL?,
    options: [AnyHashable: Any]?
  ) throws -> NSPersistentStore {
    // Apple's initialiser needs a URL. A store that is kept nowhere has none afterwards.
    let store = storeClass.init(
      persistentStoreCoordinator: self, configurationName: configuration,
      at: url ?? URL(fileURLWithPath: "/dev/null"), options: options)
    do {
      try load(store, type, hasURL: url != nil)
      return store
    } catch {
      store.rowStore.close()
      store.persistentStoreCoordinator = nil
      throw error
    }
  }

  private func load(_ store: NSPersistentStore, _ type: String, hasURL: Bool) throws {
    guard let adapter = store.adapter as? StoreAdapter else {
      throw NSError.coreData(.invalidStoreType, "The store type \"\(type)\" has no class that can be loaded.")
    }
    adapter.details.registeredType = type
    if !hasURL { adapter.details.url = nil }
    try adapter.alone {
      try store.loadMetadata()
      try check(store, adapter, type: type)
      if let atomic = store as? NSAtomicStore { try atomic.load() }
      adapter.isOpen = true
    }
  }

  private func check(_ store: NSPersistentStore, _ adapter: StoreAdapter, type: String) throws {
    var metadata = store.metadata
    guard
      let uuid = metadata[NSStoreUUIDKey] as? String ?? (adapter.identity.uuid.isEmpty ? nil : adapter.identity.uuid),
      !uuid.isEmpty
    else {
      throw NSError.coreData(
        .open, "loadMetadata() of \(Swift.type(of: store)) has set no UUID. Set NSStoreUUIDKey in the metadata.")
    }
    if let found = metadata[NSStoreTypeKey] as? String, found != type {
      throw NSError.coreData(
        .storeTypeMismatch, "The store \(store.location) is of the type \"\(found)\", and was added as \"\(type)\".")
    }
    let ignoresVersions = (store.options?[NSIgnorePersistentStoreVersioningOption] as? NSNumber)?.boolValue ?? false
    if let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data], !ignoresVersions {
      let compatibility = ModelCompatibility(hashes, managedObjectModel, configuration: store.configurationName)
      guard compatibility.isCompatible else {
        throw NSError.coreData(
          .incompatibleModel,
          "The model used to open the store \(store.location) is not the one it was created with. These entities differ: "
            + "\(compatibility.differences).", userInfo: ["metadata": hashes])
      }
    }
    // What Apple's coordinator adds to the metadata of every store.
    let own = StoreMetadata(model: managedObjectModel, configuration: store.configurationName)
    metadata.merge([NSStoreUUIDKey: uuid, NSStoreTypeKey: type]) { found, _ in found }
    for key in [NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey, NSPersistenceFrameworkVersionKey]
    where metadata[key] == nil {
      metadata[key] = own.dictionary[key]
    }
    store.metadata = metadata
    adapter.identity.uuid = uuid
  }
}
