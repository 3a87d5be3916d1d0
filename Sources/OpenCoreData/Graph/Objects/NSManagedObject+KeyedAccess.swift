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
  /// is nil. A collection on the way gives the collection of its elements' values, without those that are nil. The
  /// operators are those of predicates: `@count`, `@sum`, `@min`, `@max`, `@avg`, `@unionOfObjects` and
  /// `@distinctUnionOfObjects`.
  ///
  /// ```swift
  /// let pages = author.value(forKeyPath: "works.@sum.pages") as? Int
  /// ```
  public func value(forKeyPath keyPath: String) -> Any? {
    let keys = keyPath.split(separator: ".").map(String.init)
    var value: Any? = self
    for (index, key) in keys.enumerated() {
      if CollectionOperator(rawValue: key) != nil { return Self.computed(keys[index...], of: value) }
      value = Self.value(of: value, forKey: key)
    }
    return value
  }

  /// What the operator that a path begins with computes of a collection; nil for nil.
  private static func computed(_ keys: ArraySlice<String>, of collection: Any?) -> Any? {
    guard let collection, !(collection is NSNull) else { return nil }
    do {
      let value = try SubjectValue.of(collection, keyPath: keys)
      let isSet = collection is NSSet && keys.first == CollectionOperator.distinctUnion.rawValue
      return isSet ? (value as? [Any]).map(NSSet.init(array:)) : value
    } catch {
      // Apple's method can't throw: it raises an exception for a key that the objects do not have.
      preconditionFailure((error as NSError).localizedDescription)
    }
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
      NSOrderedSet(array: objects.array.compactMap { value(of: $0, forKey: key) })
    case let objects as NSSet:
      NSSet(array: objects.allObjects.compactMap { value(of: $0, forKey: key) })
    case let array as [Any]: array.compactMap { value(of: $0, forKey: key) }
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
