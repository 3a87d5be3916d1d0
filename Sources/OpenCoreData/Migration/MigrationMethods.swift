import Foundation

// What value expressions of mapping models can ask for: methods by FUNCTION, and keys behind a variable.

extension NSEntityMigrationPolicy: ExpressionCallable {}

extension NSMigrationManager: ExpressionCallable, PredicateSubject {
  package func value(ofMethod name: String, arguments: [Any?]) throws -> Any? {
    switch name {
    case MappingExpressions.instancesOfMapping:
      return destinationInstances(
        forEntityMappingName: try text(arguments[0], name), sourceInstances: try objects(arguments[1], name))
    case MappingExpressions.sourcesOfMapping:
      return sourceInstances(
        forEntityMappingName: try text(arguments[0], name), destinationInstances: try objects(arguments[1], name))
    case MappingExpressions.instancesOfRelationship:
      return destinationInstances(ofAnyMapping: try objects(arguments[1], name))
    case MappingExpressions.sourceRequest:
      let request = NSFetchRequest<NSManagedObject>(entityName: try text(arguments[0], name))
      request.includesSubentities = false
      request.predicate = try NSPredicate.parse(format: try text(arguments[1], name))
      return request
    default:
      guard arguments.isEmpty else { throw NSError.noMethod(name, of: "A migration manager") }
      return try predicateValue(forKeyPath: [name])
    }
  }

  package func predicateValue(forKeyPath keyPath: [String]) throws -> Any? {
    let value: Any? =
      switch keyPath.first {
      case "sourceContext": sourceContext
      case "destinationContext": destinationContext
      case "sourceModel": sourceModel
      case "destinationModel": destinationModel
      case "mappingModel": mappingModel
      case "currentEntityMapping": currentEntityMapping
      case "userInfo": userInfo.map(NSDictionary.init(dictionary:))
      default: throw NSError.noMethod(keyPath.first ?? "", of: "A migration manager")
      }
    return try SubjectValue.of(value, keyPath: keyPath.dropFirst())
  }

  private func text(_ argument: Any?, _ method: String) throws -> String {
    guard let text = argument as? String else { throw NSError.argument(of: method, "a text") }
    return text
  }

  /// An expression passes a single object for a to-one relationship, and nil for one that leads to nothing.
  private func objects(_ argument: Any?, _ method: String) throws -> [NSManagedObject] {
    switch argument {
    case nil, is NSNull: return []
    case let object as NSManagedObject: return [object]
    case let list as [NSManagedObject]: return list
    case let list as NSArray: return list.compactMap { $0 as? NSManagedObject }
    case let set as NSSet: return set.allObjects.compactMap { $0 as? NSManagedObject }
    case let set as NSOrderedSet: return set.array.compactMap { $0 as? NSManagedObject }
    default: throw NSError.argument(of: method, "an object or a collection of objects")
    }
  }
}

extension NSEntityMapping: PredicateSubject {
  package func predicateValue(forKeyPath keyPath: [String]) throws -> Any? {
    let value: Any? =
      switch keyPath.first {
      case "name": name
      case "sourceEntityName": sourceEntityName
      case "destinationEntityName": destinationEntityName
      case "userInfo": userInfo.map(NSDictionary.init(dictionary:))
      default: throw NSError.noMethod(keyPath.first ?? "", of: "An entity mapping")
      }
    return try SubjectValue.of(value, keyPath: keyPath.dropFirst())
  }
}

extension NSPropertyMapping: PredicateSubject {
  package func predicateValue(forKeyPath keyPath: [String]) throws -> Any? {
    let value: Any? =
      switch keyPath.first {
      case "name": name
      case "userInfo": userInfo.map(NSDictionary.init(dictionary:))
      default: throw NSError.noMethod(keyPath.first ?? "", of: "A property mapping")
      }
    return try SubjectValue.of(value, keyPath: keyPath.dropFirst())
  }
}

extension NSManagedObject: ExpressionCallable {
  package func value(ofMethod name: String, arguments: [Any?]) throws -> Any? {
    switch (name, arguments.first as? String) {
    case ("valueForKey:", let key?): return try predicateValue(forKeyPath: [key])
    case ("valueForKeyPath:", let path?):
      return try predicateValue(forKeyPath: path.split(separator: ".").map(String.init))
    default:
      guard arguments.isEmpty else { throw NSError.noMethod(name, of: "The entity \(entity.name ?? "")") }
      return try predicateValue(forKeyPath: [name])
    }
  }
}

extension NSManagedObjectContext: ExpressionCallable {
  /// What FETCH calls.
  package func value(ofMethod name: String, arguments: [Any?]) throws -> Any? {
    guard let request = arguments.first as? any FetchedByExpression else {
      throw NSError.argument(of: "FETCH", "a fetch request")
    }
    return try performAndWait {
      switch name {
      case PredicateBlock.fetchMethod: return try request.values(in: self)
      case PredicateBlock.countMethod: return NSNumber(value: try count(for: request.ofObjects))
      default: throw NSError.noMethod(name, of: "A context")
      }
    }
  }
}

extension NSError {
  fileprivate static func noMethod(_ name: String, of what: String) -> NSError {
    .coreData(.coreData, "\(what) has nothing named '\(name)' for expressions.")
  }

  fileprivate static func argument(of method: String, _ needed: String) -> NSError {
    .coreData(.coreData, "'\(method)' needs \(needed).")
  }
}
