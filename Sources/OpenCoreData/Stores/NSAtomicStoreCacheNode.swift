import Foundation

/// One object of an atomic store. (Apple documentation: NSAtomicStoreCacheNode.)
///
/// A node is used under the lock of its store's adapter, in the methods of the store only.
open class NSAtomicStoreCacheNode: NSObject {
  /// The ID of the object whose values the node has.
  public let objectID: NSManagedObjectID
  /// Values by the names of properties; nil while nothing was set.
  ///
  /// Attributes have the types that `value(forKey:)` of an object gives. A to-one relationship is the node of its
  /// destination, or that node's `NSManagedObjectID`; a to-many relationship is a set or an array of them.
  open var propertyCache: NSMutableDictionary?

  /// A node without values. Required, so that a subclass can be made by its class.
  ///
  /// - Parameter moid: The ID of the object.
  public required init(objectID moid: NSManagedObjectID) {
    objectID = moid
    super.init()
  }

  /// The value of a property in `propertyCache`; nil if it has none.
  open func value(forKey key: String) -> Any? { propertyCache?.object(forKey: NSString(string: key)) }

  /// Sets a value; nil removes it.
  open func setValue(_ value: Any?, forKey key: String) {
    let cache = propertyCache ?? NSMutableDictionary()
    propertyCache = cache
    if let value {
      cache.setObject(value, forKey: NSString(string: key))
    } else {
      cache.removeObject(forKey: NSString(string: key))
    }
  }
}
