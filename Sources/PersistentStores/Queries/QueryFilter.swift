import ManagedObjectModel
import Foundation

/// An object in memory that a query is evaluated for: a managed object or a row.
package protocol QueriedObject {
  var queriedEntity: NSEntityDescription { get }
  func value(ofSlot slot: Int) throws -> StoredValue
  /// The value at the end of a path beyond its own attributes.
  func value(at path: AttributePath) throws -> StoredValue
  /// The objects at the end of a path.
  func elements(_ path: ElementPath) throws -> [Self]
}

/// The predicate of a query for objects of one entity, with its attributes resolved once.
package struct QueryFilter {
  /// Where an object has the value for a key.
  fileprivate enum Source {
    case slot(Int)
    /// A key path beyond its own attributes.
    case path(AttributePath)

    init(_ path: [String], _ entity: NSEntityDescription) throws {
      if path.count == 1, let slot = entity.slot(named: path[0]) {
        self = .slot(slot)
      } else {
        self = .path(try AttributePath(path, of: entity))
      }
    }
  }

  private let predicate: BoundPredicate?
  /// By the index of each key of the predicate.
  private let sources: [Source]

  package init(_ query: FetchQuery, _ entity: NSEntityDescription) throws {
    predicate = query.predicate
    sources = try (predicate?.keys ?? []).map { try Source($0.path, entity) }
  }

  /// Whether the query finds the object, whose values are requested only if needed.
  ///
  /// - Throws: What the object throws when it is read.
  package func accepts(_ object: some QueriedObject) throws -> Bool {
    try predicate?.matches(object, QueryReader(sources: sources)) ?? true
  }
}

/// An expression about objects of one entity, with its attributes resolved once.
package struct QueryExpression {
  private let expression: BoundExpression
  private let sources: [QueryFilter.Source]

  package init(_ expression: BoundExpression, _ entity: NSEntityDescription) throws {
    self.expression = expression
    sources = try expression.keys.map { try QueryFilter.Source($0.path, entity) }
  }

  /// The value of an attribute, or at the end of a path of to-one relationships.
  init(_ path: [String], of entity: NSEntityDescription) throws {
    let schema = EntityPredicateSchema(entity: entity)
    try self.init(PredicateOperand.keyPath(path).bound(to: schema), entity)
  }

  package func value(of object: some QueriedObject) throws -> StoredValue {
    try expression.value(of: object, QueryReader(sources: sources))
  }
}

/// Reads the queried objects and the elements that they lead to.
private struct QueryReader<Element: QueriedObject>: PredicateReader {
  let sources: [QueryFilter.Source]

  func value(_ key: PredicateKey, of element: Element) throws -> StoredValue {
    // The entity of an element is known only now: it may be one that inherits from the relationship's.
    switch try key.level == 0 ? sources[key.index] : QueryFilter.Source(key.path, element.queriedEntity) {
    case .slot(let slot): try element.value(ofSlot: slot)
    case .path(let path): try element.value(at: path)
    }
  }

  func elements(_ path: [String], of element: Element) throws -> [Element] {
    guard let path = ElementPath(path, of: element.queriedEntity) else {
      throw EntityPredicateSchema.unknown(path, in: element.queriedEntity)
    }
    return try element.elements(path)
  }
}
