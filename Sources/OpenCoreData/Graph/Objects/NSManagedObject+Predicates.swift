import Foundation

extension NSManagedObject: NSFetchRequestResult {}

extension NSManagedObject: PredicateIdentifiable {
  package var predicateIdentity: any PredicateIdentity { objectID }
}

extension NSManagedObject: PredicateSubject {
  package func predicateValue(forKeyPath keyPath: [String]) throws -> Any? {
    if let found = try fetchedElements(onKeyPath: keyPath) {
      return try SubjectValue.of(found.objects, keyPath: keyPath[found.count...])
    }
    if let path = ElementPath(keyPath, of: entity) {
      let elements = try elements(path).map(\.object)
      return try SubjectValue.of(elements, keyPath: keyPath[path.relationships.count...])
    }
    let path: AttributePath
    do {
      path = try AttributePath(keyPath, of: entity)
    } catch {
      guard let value = try propertyOfValue(onKeyPath: keyPath) else { throw error }
      return value
    }
    if case .attribute = path.end { return value(forKeyPath: keyPath.joined(separator: ".")) }
    // Without the `SELF` or `objectID` that may end the path: objects are compared, not their IDs.
    let object =
      path.relationships.isEmpty ? self : value(forKeyPath: path.relationships.map(\.name).joined(separator: "."))
    if case .entityName = path.end { return (object as? NSManagedObject)?.entity.name }
    return object
  }
}

extension NSManagedObject {
  /// What follows the attribute on a key path, such as `length` in `name.length`; nil in the outer optional for a path
  /// whose last part but one is not an attribute.
  private func propertyOfValue(onKeyPath keyPath: [String]) throws -> Any?? {
    let (path, rest) = (Array(keyPath.dropLast()), keyPath.suffix(1))
    guard !path.isEmpty, let found = try? AttributePath(path, of: entity), case .attribute = found.end else {
      return nil
    }
    return .some(try SubjectValue.of(value(forKeyPath: path.joined(separator: ".")), keyPath: rest))
  }

  /// What the fetched property on a key path finds, behind any to-one relationships, and the number of keys up to and with
  /// it; nil for a path without one.
  private func fetchedElements(onKeyPath keyPath: [String]) throws -> (objects: [NSManagedObject], count: Int)? {
    var entity: NSEntityDescription? = self.entity
    for (index, key) in keyPath.enumerated() {
      guard let property = entity?.propertiesByName[key] else { return nil }
      if property is NSFetchedPropertyDescription {
        let path = keyPath[..<index]
        let owner = path.isEmpty ? self : value(forKeyPath: path.joined(separator: ".")) as? NSManagedObject
        let objects = try owner.flatMap { owner in try owner.fetchedProperty(key).map(owner.fetchObjects) }
        return (objects ?? [], index + 1)
      }
      guard let relationship = property as? NSRelationshipDescription, !relationship.isToMany else { return nil }
      entity = relationship.destinationEntity
    }
    return nil
  }
}

extension NSManagedObject: KeyPathNaming {
  /// Reads the key path on an object without a row, and records which accessor asks for its value.
  package static func propertyNames(of keyPath: AnyKeyPath) -> [String]? {
    let recorder = KeyRecordingEntity()
    let probe: Any = Self.init(entity: recorder, insertInto: nil)
    _ = probe[keyPath: keyPath]
    // `\.place?.count` asks for one key in two steps, a property computed from two attributes for two keys in one step:
    // neither is an attribute, and none of the names is the right one.
    return recorder.keysAsked.count == keyPath.stepCount ? recorder.keysAsked : nil
  }
}

extension AnyKeyPath {
  /// The number of properties in the key path. Only its description shows it: one dot before each property, in addition
  /// to those in the names of types.
  fileprivate var stepCount: Int {
    var (depth, steps) = (0, 0)
    for character in debugDescription {
      switch character {
      case "<", "(", "[": depth += 1
      case ">", ")", "]": depth -= 1
      case "." where depth == 0: steps += 1
      default: break
      }
    }
    return steps
  }
}

/// The entity of such an object: it has every key that is asked for, without values.
// Unchecked as its superclass is; only one thread ever has an instance.
final class KeyRecordingEntity: NSEntityDescription, @unchecked Sendable {
  private(set) var keysAsked: [String] = []

  override init() {
    super.init()
    name = "KeyRecordingEntity"
    let any = NSAttributeDescription()
    any.name = "any"
    any.attributeType = .undefinedAttributeType
    properties = [any]
  }

  /// The only slot.
  func slot(asked key: String) -> Int {
    note(key)
    return 0
  }

  func note(_ key: String) { keysAsked.append(key) }
}
