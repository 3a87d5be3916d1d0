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
  /// is nil.
  ///
  /// A collection on the way gives the collection of its elements' values, without those that are nil. A collection
  /// operator computes a value of the elements: `@count`, or one that is followed by the path of their values, such as
  /// `@sum`; an operator for distinct values gives a set of those of a set. (Apple documentation: Key-Value Coding
  /// Programming Guide, "Using Collection Operators".)
  ///
  /// ```swift
  /// let titles = author.value(forKeyPath: "works.title") as? NSSet
  /// let pages = author.value(forKeyPath: "works.@sum.pages") as? Int
  /// ```
  public func value(forKeyPath keyPath: String) -> Any? {
    Self.value(of: self, forKeyPath: keyPath.split(separator: ".").map(String.init)[...])
  }

  /// Sets the value at the end of a path; does nothing if anything before its last key is nil. If the path leads through
  /// a collection, the value is set for each of its elements.
  ///
  /// ```swift
  /// author.setValue(true, forKeyPath: "works.isRead")
  /// ```
  public func setValue(_ value: Any?, forKeyPath keyPath: String) {
    let keys = keyPath.split(separator: ".").map(String.init)
    guard let last = keys.last else { return setValue(value, forUndefinedKey: keyPath) }
    Self.setValue(value, forKey: last, of: Self.value(of: self, forKeyPath: keys.dropLast()))
  }

  /// Sets each key to its value; NSNull stands for nil.
  public func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
  }

  /// The values of `keys`; NSNull stands for nil.
  public func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }) { first, _ in first }
  }

  private static func value(of object: Any?, forKeyPath keys: ArraySlice<String>) -> Any? {
    guard let key = keys.first else { return object }
    let path = keys.dropFirst()
    guard let word = CollectionOperator(rawValue: key) else {
      return value(of: value(of: object, forKey: key), forKeyPath: path)
    }
    guard let object, !(object is NSNull) else { return nil }
    guard let elements = SubjectValue.elements(of: object) else { refuse(key, of: object) }
    if word == .count { return value(of: elements.count, forKeyPath: path) }
    do {
      let values = elements.map { value(of: $0, forKeyPath: path) }
      let result = try SubjectValue.of(values, keyPath: path.isEmpty ? [key] : [key, "SELF"])
      let isSet = object is NSSet && word == .distinctUnion
      return isSet ? (result as? [Any]).map(NSSet.init(array:)) : result
    } catch {
      // The caller's mistake: the message names the operator and what it lacks.
      preconditionFailure((error as NSError).localizedDescription)
    }
  }

  /// Ends the process for a key that a value does not have, as an exception does on Apple's systems.
  private static func refuse(_ key: String, of object: Any?) -> Never {
    // The caller's mistake: the message names the key.
    preconditionFailure(
      "\(object.map { "\(type(of: $0))" } ?? "nil") is not key value coding-compliant for \"\(key)\".")
  }

  private static func setValue(_ value: Any?, forKey key: String, of object: Any?) {
    switch object {
    case nil, is NSNull: break
    case let object as NSManagedObject: object.setValue(value, forKey: key)
    case let dictionary as NSMutableDictionary: dictionary[NSString(string: key)] = value
    case let objects as NSOrderedSet: for object in objects.array { setValue(value, forKey: key, of: object) }
    case let objects as NSSet: for object in objects.allObjects { setValue(value, forKey: key, of: object) }
    case let array as [Any]: for object in array { setValue(value, forKey: key, of: object) }
    default: refuse(key, of: object)
    }
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
    case let object? where key == "self": object
    default: refuse(key, of: object)
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
