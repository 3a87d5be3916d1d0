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

/// A property whose value is the result of a fetch (Apple: NSFetchedPropertyDescription).
// Unchecked: see `FreezeFlag`.
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
  /// The fetch as the model file declares it.
  package var template: FetchRequestTemplate? { willSet { freezeFlag.requireMutable() } }

  package override func makeEmptyCopy() -> NSPropertyDescription { NSFetchedPropertyDescription() }

  package override func copyDescription(to other: NSPropertyDescription) {
    super.copyDescription(to: other)
    (other as? NSFetchedPropertyDescription)?.template = template
  }
}
