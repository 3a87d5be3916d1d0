import Foundation

/// One object of an atomic store. (Apple documentation: NSAtomicStoreCacheNode.)
///
/// A node is used under the lock of its store's adapter, in the methods of the store only.
open class NSAtomicStoreCacheNode: NSObject {
  public let objectID: NSManagedObjectID
  /// Values by the names of properties; nil while nothing was set.
  ///
  /// Attributes have the types that `value(forKey:)` of an object gives. A to-one relationship is the node of its
  /// destination, or that node's `NSManagedObjectID`; a to-many relationship is a set or an array of them.
  open var propertyCache: NSMutableDictionary?

  public required init(objectID moid: NSManagedObjectID) {
    objectID = moid
    super.init()
  }

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
