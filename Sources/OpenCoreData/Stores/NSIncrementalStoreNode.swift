import Foundation
import SystemSupport

/// One row of an incremental store. (Apple documentation: NSIncrementalStoreNode.)
// Unchecked: the values are replaced and read under the lock only.
open class NSIncrementalStoreNode: NSObject, @unchecked Sendable {
  /// The ID of the object whose values the node has.
  public let objectID: NSManagedObjectID
  private let lock = NSLock()
  private var values: [String: Any]
  private var versionKept: UInt64

  /// - Parameters:
  ///   - objectID: The object that the row belongs to.
  ///   - values: Attributes by name, with the types that `value(forKey:)` of an object gives. To-one relationships may
  ///     be among them, as the `NSManagedObjectID` of the destination or `NSNull`. An attribute that is left out is nil.
  ///   - version: The version of the row. A store counts it up with every change of the row, so that conflicts are
  ///     noticed.
  public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
    self.objectID = objectID
    self.values = values
    versionKept = version
  }

  /// Replaces the values that are named, and the version.
  open func update(withValues values: [String: Any], version: UInt64) {
    lock.withLock {
      self.values.merge(values) { $1 }
      versionKept = version
    }
  }

  /// The version of the row, which grows with each change; a save compares it with the version that its values are
  /// based on.
  open var version: UInt64 { lock.withLock { versionKept } }

  /// The value of an attribute or to-one relationship; nil where the node has none.
  open func value(for property: NSPropertyDescription) -> Any? { lock.withLock { values[property.name] } }
}

extension NSEntityDescription {
  /// Values that a store of a client's own gave, by slot. Transient attributes are nil.
  ///
  /// - Throws: `NSError` 134060 that names a value of a type that does not fit.
  func storedValues(_ value: (NSAttributeDescription) -> Any?) throws -> [StoredValue] {
    try attributeSlots.map { attribute in
      if attribute.isTransient { return .null }
      return try attribute.storedValue(fromStore: value(attribute), entity: name ?? "")
    }
  }
}

extension NSAttributeDescription {
  /// - Throws: `NSError` 134060 for a type that does not fit.
  func storedValue(fromStore value: Any?, entity: String) throws -> StoredValue {
    guard let stored = encodedValue(from: value) else {
      throw NSError.coreData(
        .coreData,
        "The store gave a value of the type \(value.map { "\(Swift.type(of: $0))" } ?? "nil") for \(entity).\(name), which "
          + "needs \(attributeValueClassName ?? "\(attributeType)").")
    }
    return stored
  }
}
