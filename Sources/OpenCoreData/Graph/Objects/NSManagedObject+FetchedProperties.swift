import Foundation

/// Properties whose values are results of fetches. (Apple documentation: NSFetchedPropertyDescription; Core Data
/// Programming Guide, "Weak Relationships (Fetched Properties)".)
extension NSManagedObject {
  /// The objects of a fetched property, for generated accessors. They are fetched at the first read, and kept until the
  /// object is refreshed or becomes a fault.
  public final func fetchedObjects<Object: NSManagedObject>(forKey key: String) -> [Object] {
    // The caller's mistake: the message names the key.
    guard let property = fetchedProperty(key) else { preconditionFailure(undefined(key)) }
    return fetchedObjects(property).map { found in
      guard let object = found as? Object else {
        preconditionFailure(
          "\(entity.name ?? "").\(key) finds objects of \(type(of: found)), which is not a class of \(Object.self).")
      }
      return object
    }
  }

  func fetchedProperty(_ key: String) -> NSFetchedPropertyDescription? {
    entity.propertiesByName[key] as? NSFetchedPropertyDescription
  }

  func refuseToSet(_ property: NSFetchedPropertyDescription) -> Never {
    preconditionFailure(
      "The fetched property \(entity.name ?? "").\(property.name) can't be set: it has what its request finds.")
  }

  /// What a fetched property finds; throws the errors of the fetch.
  func fetchObjects(_ property: NSFetchedPropertyDescription) throws -> [NSManagedObject] {
    checkQueue()
    if let known = knownFetchedObjects(property) { return known }
    guard let context = managedObjectContext else { return [] }
    let objects = try context.fetch(property.request(of: self))
    auxiliary.fetched[property.name] = objects.map(\.objectID)
    return objects
  }

  /// The same for accessors, which can't throw.
  func fetchedObjects(_ property: NSFetchedPropertyDescription) -> [NSManagedObject] {
    do {
      return try fetchObjects(property)
    } catch {
      guard let readFailure = managedObjectContext?.readFailure else {
        preconditionFailure(
          "The fetched property \(entity.name ?? "").\(property.name) of \(objectID) can't be read: "
            + (error as NSError).localizedDescription)
      }
      readFailure.note(error)
      return []
    }
  }

  /// What a fetched property has found; nil if it was not read since the last refresh.
  func knownFetchedObjects(_ property: NSFetchedPropertyDescription) -> [NSManagedObject]? {
    guard let context = managedObjectContext, let known = auxiliaryIfPresent?.fetched[property.name] else { return nil }
    return known.map(context.object(with:)).filter { object in
      // An insertion that was taken back since is gone.
      object.isInserted || !object.objectID.isTemporaryID || context.parent != nil
    }
  }
}

extension NSFetchedPropertyDescription {
  /// A copy of the request that finds the objects; setting it keeps a copy. (Apple documentation: fetchRequest.)
  public var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    get {
      if let set = requestSet as? NSFetchRequest<any NSFetchRequestResult> {
        return owner?.model.flatMap { set.copy(for: $0) as? NSFetchRequest<any NSFetchRequestResult> }
          ?? set.retyped(as: (any NSFetchRequestResult).self)
      }
      return template.map { (owner?.model ?? NSManagedObjectModel()).request($0) }
    }
    set {
      template = nil
      requestSet = newValue?.retyped(as: (any NSFetchRequestResult).self)
    }
  }

  /// The request for the property of an object.
  ///
  /// - Throws: `NSError` 134060 without a request, for one that asks for something else than objects, and for a key path
  ///   that the object does not have.
  fileprivate func request(of object: NSManagedObject) throws -> NSFetchRequest<NSManagedObject> {
    guard let request = fetchRequest?.retyped(as: NSManagedObject.self) else {
      throw failure("it has no fetch request.")
    }
    guard request.resultType == .managedObjectResultType else {
      throw failure("its request asks for something else than objects. Set its resultType to managedObjectResultType.")
    }
    let tree = try request.predicate?.predicateNode()
    request.predicate = try tree.map { NSPredicate(node: try $0.mapOperands { try value($0, of: object) }) }
    return request
  }

  /// What a variable, or a key path from one, stands for; nil for other operands.
  private func value(_ operand: PredicateOperand, of object: NSManagedObject) throws -> PredicateOperand? {
    let (name, path): (String, [String])
    switch operand {
    case .variable(let variable): (name, path) = (variable, [])
    case .path(.variable(let variable), let rest): (name, path) = (variable, rest)
    default: return nil
    }
    switch name {
    case "FETCH_SOURCE": return .constant(PredicateConstant(argument: try SubjectValue.of(object, keyPath: path[...])))
    case "FETCHED_PROPERTY": return .constant(PredicateConstant(argument: try ownValue(path)))
    default: return nil
    }
  }

  private func ownValue(_ path: [String]) throws -> Any? {
    switch path.first {
    case "name" where path.count == 1: return name
    case "userInfo":
      var keyed: [String: Any] = [:]
      for (key, value) in userInfo ?? [:] { keyed["\(key)"] = value }
      return try SubjectValue.of(keyed, keyPath: path.dropFirst())
    default:
      throw failure(
        "of $FETCHED_PROPERTY its predicate can use name and userInfo, such as $FETCHED_PROPERTY.userInfo.key.")
    }
  }

  private func failure(_ reason: String) -> NSError {
    .coreData(
      .coreData, "The fetched property \(owner?.name.map { $0 + "." } ?? "")\(name) can't be fetched: \(reason)")
  }
}

extension NSEntityDescription {
  /// The names of its fetched properties, sorted.
  var fetchedPropertyNames: [String] {
    propertiesByName.values.filter { $0 is NSFetchedPropertyDescription }.map(\.name).sorted()
  }
}
