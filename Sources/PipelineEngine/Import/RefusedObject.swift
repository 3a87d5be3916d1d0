import Foundation
import OpenCoreData

/// An object that the rules of the model refuse in a save.
struct RefusedObject {
  let id: NSManagedObjectID
  /// What is wrong with the object by itself; nil if only its links to entries are.
  let message: String?
  /// What the save changes at the object's end of relationships that entries lead over.
  let ends: [LinkedEnd]

  /// Called on the queue of the object's context.
  ///
  /// - Parameter relationships: Those that entries lead over.
  fileprivate init(_ object: NSManagedObject, _ error: any Error, over relationships: [NSRelationshipDescription]) {
    id = object.objectID
    // Every error can be cast to NSError, and one that is none loses its message.
    let known = type(of: error) is NSError.Type ? error as NSError : nil
    let details = known.map { ($0.userInfo[NSDetailedErrorsKey] as? [NSError]) ?? [$0] } ?? []
    func detail(_ relationship: NSRelationshipDescription) -> NSError? {
      details.first { $0.userInfo[NSValidationKeyErrorKey] as? String == relationship.name }
    }
    var (ends, ofEnds) = ([LinkedEnd](), [NSError]())
    for relationship in relationships {
      guard let inverse = relationship.inverseRelationship, let destination = relationship.destinationEntity,
        object.entity.isKindOf(entity: destination)
      else { continue }
      let found = detail(inverse)
      ends.append(LinkedEnd(object, over: relationship, inverse: inverse, error: found))
      if let found { ofEnds.append(found) }
    }
    self.ends = ends
    guard known != nil else {
      message = (error as? any LocalizedError)?.errorDescription ?? "\(error)"
      return
    }
    message = details.first { detail in !ofEnds.contains { $0 === detail } }?.localizedDescription
  }
}

extension NSManagedObjectContext {
  /// The objects that the last save has refused, with what is wrong with them. Called on the context's queue, before the
  /// changes are rolled back.
  ///
  /// - Parameter relationships: Those that entries lead over.
  func refusedObjects(over relationships: [NSRelationshipDescription]) -> [RefusedObject] {
    // What can't be read now leaves the save with the error that it has.
    let found = try? throwingReadFailures {
      validationFailures.map { RefusedObject(object(with: $0.id), $0.error, over: relationships) }
    }
    return found ?? []
  }
}

/// An object at the other end of a relationship, and the entries that a save links to it or takes away from it.
struct LinkedEnd {
  /// A rule that the object breaks because of that.
  enum Problem {
    /// More entries lead to it than the model allows, by this number.
    case tooMany(Int)
    /// Fewer entries lead to it than the model demands, by this number.
    case tooFew(Int)
    /// Such as one for which the model has a predicate.
    case other
  }

  /// The relationship of the entries.
  let relationship: NSRelationshipDescription
  /// The relationship of the object.
  let inverse: NSRelationshipDescription
  /// Nil if the model has nothing against this end.
  let problem: Problem?
  private let object: NSManagedObjectID
  private let gained: [NSManagedObjectID]
  private let lost: [NSManagedObjectID]
  /// The words of the model; empty if it has nothing against this end.
  let description: String

  fileprivate init(
    _ object: NSManagedObject, over relationship: NSRelationshipDescription, inverse: NSRelationshipDescription,
    error: NSError?
  ) {
    (self.relationship, self.inverse, self.object) = (relationship, inverse, object.objectID)
    let now = object.objectIDs(forRelationshipNamed: inverse.name)
    let before = Self.committed(inverse, of: object)
    gained = now.filter { !before.contains($0) }
    lost = before.subtracting(now).map(\.self)
    description = error?.localizedDescription ?? ""
    problem =
      switch error.flatMap({ NSError.CoreDataCode(rawValue: $0.code) }) {
      case nil: error == nil ? nil : .other
      case .relationshipExceedsMaximumCount: .tooMany(now.count - inverse.maxCount)
      case .relationshipLacksMinimumCount: .tooFew(inverse.minCount - now.count)
      case .missingMandatoryProperty: .tooFew(1)
      default: .other
      }
  }

  private static func committed(
    _ relationship: NSRelationshipDescription, of object: NSManagedObject
  ) -> Set<NSManagedObjectID> {
    let name = relationship.name
    let objects: [Any] =
      switch object.committedValues(forKeys: [name])[name] {
      case let one as NSManagedObject: [one]
      case let many as NSOrderedSet: many.array
      case let many as NSSet: many.allObjects
      default: []
      }
    return Set(objects.compactMap { ($0 as? NSManagedObject)?.objectID })
  }

  /// The entries without whose changes the object keeps the rule, by their positions in the order of their records. The
  /// last ones are refused: what precedes them is within the limits.
  ///
  /// - Parameter position: That of an entry; nil for one that is not among the saved.
  func refused(_ position: (NSManagedObjectID) -> Int?) -> [Int] {
    let (gained, lost) = (gained.compactMap(position).sorted(), lost.compactMap(position).sorted())
    switch problem {
    case .tooMany(let count): return gained.suffix(max(1, count))
    case .tooFew(let count): return lost.isEmpty ? gained : lost.suffix(max(1, count))
    case .other, nil: return gained + lost
    }
  }

  /// What a report says against the records.
  var message: String {
    let key = object.resolved.storeKey.map { " p\($0)" }
    let name = "\(key == nil ? "the new " : "")\(object.entity.name ?? "")\(key ?? "")"
    switch problem {
    case .tooMany:
      return
        "\(name), which the record leads to over '\(relationship.name)', can have \(inverse.maxCount) objects in its "
        + "'\(inverse.name)' at most, and has them without this record; correct the record, or first lead one of the "
        + "others elsewhere"
    case .tooFew where !inverse.isToMany:
      return
        "\(name) would have nothing in its '\(inverse.name)', which is mandatory; name it in the record, or first delete it"
    case .tooFew where lost.isEmpty:
      return
        "\(name), which the record leads to over '\(relationship.name)', must have \(inverse.minCount) objects in its "
        + "'\(inverse.name)' at least; import enough records that lead to it in one chunk ('chunkRows')"
    case .tooFew:
      return
        "\(name), which the record would no longer lead to over '\(relationship.name)', must keep \(inverse.minCount) "
        + "objects in its '\(inverse.name)' at least; correct the record, or first lead others to it"
    case .other, nil: return message(saying: description)
    }
  }

  /// What a report says against the records if something else is wrong with the object.
  func message(saying description: String) -> String {
    "\(object.entity.name ?? ""), which the record changes over '\(relationship.name)': \(description)"
  }
}
