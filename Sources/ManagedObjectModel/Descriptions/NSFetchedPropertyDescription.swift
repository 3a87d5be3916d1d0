import Foundation

/// A fetch as a model file declares it. It is text only, since a predicate can be created only where it is used.
package struct FetchRequestTemplate: Sendable, Equatable {
  package var name: String
  package var entityName: String
  package var predicateFormat: String?
  package var fetchLimit: Int = 0
  package var fetchBatchSize: Int = 0
  package var includesSubentities: Bool = true
  package var includesPropertyValues: Bool = true
  package var returnsObjectsAsFaults: Bool = true
  package var returnsDistinctResults: Bool = false

  package init(name: String, entityName: String, predicateFormat: String? = nil) {
    self.name = name
    self.entityName = entityName
    self.predicateFormat = predicateFormat
  }
}

/// A property whose value is the result of a fetch: an array of objects, which is fetched when it is first read and kept
/// until the object is refreshed. (Apple documentation: NSFetchedPropertyDescription.)
///
/// In the predicate of its request, `$FETCH_SOURCE` stands for the object that has the property, and
/// `$FETCHED_PROPERTY` for this description.
///
/// ```swift
/// let nearby = NSFetchedPropertyDescription()
/// nearby.name = "nearby"
/// let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Session")
/// request.predicate = NSPredicate(format: "beach == $FETCH_SOURCE.beach AND SELF != $FETCH_SOURCE")
/// nearby.fetchRequest = request
/// ```
///
/// A store does not know of it: it is not part of version hashes, and can't be set or used in the predicate of a fetch.
// Unchecked: see `FreezeFlag`.
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
  /// The fetch as the model file declares it.
  package var template: FetchRequestTemplate? { willSet { freezeFlag.requireMutable() } }
  /// The fetch that was set in code.
  package var requestSet: (any ModelFetchRequest)? { willSet { freezeFlag.requireMutable() } }

  package override func makeEmptyCopy() -> NSPropertyDescription { NSFetchedPropertyDescription() }

  package override func copyDescription(to other: NSPropertyDescription) {
    super.copyDescription(to: other)
    guard let other = other as? NSFetchedPropertyDescription else { return }
    (other.template, other.requestSet) = (template, requestSet)
  }
}
