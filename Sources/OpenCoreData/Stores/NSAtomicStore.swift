import Foundation

/// The superclass of stores that are read whole and written whole, such as one file in a format of the client's own.
/// (Apple documentation: NSAtomicStore, "Atomic Store Programming Topics".)
///
/// A subclass overrides `loadMetadata()`, ``load()`` and ``save()``, and registers itself under a name:
///
/// ```swift
/// final class CSVStore: NSAtomicStore, @unchecked Sendable {
///   override func load() throws { addCacheNodes(try readNodes()) }
///   override func save() throws { try writeNodes(cacheNodes()) }
/// }
/// NSPersistentStoreCoordinator.registerStoreClass(CSVStore.self, forStoreType: "CSV")
/// ```
///
/// Queries are answered from the cache nodes in memory. A save changes the nodes and then calls ``save()``; if that
/// throws, the nodes are as they were. The order in a save is: ``newReferenceObject(for:)`` and ``newCacheNode(for:)``
/// for each new object, ``updateCacheNode(_:from:)`` for each changed one, ``willRemoveCacheNodes(_:)``, ``save()``.
/// See <doc:StoresOfYourOwn>.
// Unchecked: the nodes are in the adapter, which calls subclasses under its lock.
open class NSAtomicStore: NSPersistentStore, @unchecked Sendable {
  override func makeAdapter() -> (any ClassStoreAdapter)? { AtomicRowStore(self) }
  override var evaluatesBlocks: Bool { true }

  private var nodes: AtomicRowStore {
    guard let nodes = rowStore as? AtomicRowStore else {
      preconditionFailure("An atomic store is made by its own initialiser.")
    }
    return nodes
  }

  // MARK: To be overridden

  /// Reads the store and adds a cache node for each object. Called once, after `loadMetadata()`; also for a store that
  /// does not exist yet.
  ///
  /// - Throws: What keeps the store from being read; `addPersistentStore` throws the same error.
  open func load() throws { throw Self.notOverridden("load()", Self.self) }

  /// Writes all cache nodes and the metadata.
  ///
  /// - Throws: What keeps them from being written; the context's `save()` throws the same error.
  open func save() throws { throw Self.notOverridden("save()", Self.self) }

  /// The node for a new object, whose ID is permanent. Unless it is overridden, a node with the object's attributes.
  open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
    updateCacheNode(node, from: managedObject)
    return node
  }

  /// Gives a node the values of a changed object. Unless it is overridden, those of the stored attributes: a store whose
  /// model has relationships overrides it and ``newCacheNode(for:)``, and gives the nodes the related objects' IDs.
  open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
    for attribute in managedObject.entity.attributeSlots where !attribute.isTransient {
      node.setValue(managedObject.value(forKey: attribute.name), forKey: attribute.name)
    }
  }

  /// What the store is to know a new object by. Unless it is overridden, the text of a new UUID.
  ///
  /// - Returns: A `String`, an integer or a `UUID` that no other object of the entity has.
  open func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID().uuidString }

  /// Called before the nodes of deleted objects are removed.
  open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

  // MARK: Nodes and identities

  /// All nodes of the store.
  open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { nodes.allNodes }

  /// Adds nodes, in ``load()`` above all. A node replaces one with the same ID.
  open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) { nodes.add(cacheNodes) }

  /// The node of an object; nil if the store has none.
  open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? { nodes.node(for: objectID) }

  /// The ID of the object that the store knows by `data`: the same one every time.
  ///
  /// - Parameters:
  ///   - entity: The entity of the object.
  ///   - data: A `String`, an integer, a `UUID`, a `URL`, or Foundation's `NSString`, `NSNumber` or `NSUUID`. Values with
  ///     the same text are the same reference. Other types stop the program.
  public final func objectID(for entity: NSEntityDescription, withReferenceObject data: Any) -> NSManagedObjectID {
    makeObjectID(for: entity, data)
  }

  /// What the store knows an object by, as it was given to ``objectID(for:withReferenceObject:)``.
  public final func referenceObject(for objectID: NSManagedObjectID) -> Any { reference(of: objectID) }
}
