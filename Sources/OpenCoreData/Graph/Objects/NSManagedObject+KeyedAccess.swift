import Foundation

/// Keyed access beyond single attributes. (Apple documentation: Key-Value Coding Programming Guide.)
extension NSManagedObject {
  /// The value of a key, as `value(forKey:)` and `setValue(_:forKey:)` have it.
  ///
  /// ```swift
  /// object["rating"] = 5
  /// ```
  public subscript(key: String) -> Any? {
    get { value(forKey: key) }
    set { setValue(newValue, forKey: key) }
  }

  /// The value at the end of a path such as `place.name`, through objects and dictionaries; nil if anything on the way
  /// is nil. A collection on the way gives the collection of its elements' values, without those that are nil; `@count`
  /// gives the number of its elements.
  public func value(forKeyPath keyPath: String) -> Any? {
    keyPath.split(separator: ".").reduce(self as Any?) { object, key in Self.value(of: object, forKey: String(key)) }
  }

  /// Sets the value at the end of a path; does nothing if anything before its last key is nil.
  public func setValue(_ value: Any?, forKeyPath keyPath: String) {
    let keys = keyPath.split(separator: ".").map(String.init)
    guard let last = keys.last else { return setValue(value, forUndefinedKey: keyPath) }
    switch keys.dropLast().reduce(self as Any?, { Self.value(of: $0, forKey: $1) }) {
    case nil: break
    case let object as NSManagedObject: object.setValue(value, forKey: last)
    case let dictionary as NSMutableDictionary: dictionary[NSString(string: last)] = value
    case let other?:
      preconditionFailure(
        "\(type(of: other)) on the key path \(keyPath) is not key value coding-compliant for \"\(last)\".")
    }
  }

  /// Sets each key to its value; NSNull stands for nil.
  public func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
  }

  /// The values of `keys`; NSNull stands for nil.
  public func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }) { first, _ in first }
  }

  private static func value(of object: Any?, forKey key: String) -> Any? {
    switch object {
    case nil, is NSNull: nil
    case let object as NSManagedObject: object.value(forKey: key)
    case let dictionary as NSDictionary: dictionary.object(forKey: NSString(string: key))
    case let dictionary as [String: Any]: dictionary[key]
    case let objects as NSOrderedSet:
      key == "@count" ? objects.count : NSOrderedSet(array: objects.array.compactMap { value(of: $0, forKey: key) })
    case let objects as NSSet:
      key == "@count" ? objects.count : NSSet(array: objects.allObjects.compactMap { value(of: $0, forKey: key) })
    case let array as [Any]: key == "@count" ? array.count : array.compactMap { value(of: $0, forKey: key) }
    case let other?:
      preconditionFailure("\(type(of: other)) is not key value coding-compliant for \"\(key)\".")
    }
  }

  /// Sets what is not an attribute.
  func setOtherValue(_ value: Any?, forKey key: String) {
    if let relationship = entity.relationshipsByName[key] { return setRelatedValue(value, relationship) }
    if let property = fetchedProperty(key) { refuseToSet(property) }
    setValue(value, forUndefinedKey: key)
  }

  /// The properties that every managed object has in addition to the attributes of its entity.
  func ownProperty(_ key: String) -> Any? {
    switch key {
    case "self": self
    case "objectID": objectID
    case "entity": entity
    case "managedObjectContext": managedObjectContext
    case "isInserted": isInserted
    case "isUpdated": isUpdated
    case "isDeleted": isDeleted
    case "isFault": isFault
    case "hasChanges": hasChanges
    case "description": description
    default: nil
    }
  }

  func undefined(_ key: String) -> String {
    "The entity \(entity.name ?? "") is not key value coding-compliant for the key \"\(key)\". It has: "
      + (entity.attributeSlots.map(\.name) + entity.relationshipsByName.keys.sorted() + entity.fetchedPropertyNames)
      .joined(separator: ", ") + "."
  }
}
