import ManagedObjectModel
import Foundation

/// The other objects that a query reads through relationships.
extension FetchQuery {
  /// Relationships that lead from a queried object to others whose values its predicate reads.
  package struct Link: Sendable {
    fileprivate let relationships: [NSRelationshipDescription]
    /// The entity of the objects at the end.
    package let entity: NSEntityDescription
  }

  /// Every part of every path of the predicate.
  package var links: [Link] {
    guard let predicate else { return [] }
    var links: [[String]: Link] = [:]
    for path in predicate.paths {
      var (relationships, entity) = ([NSRelationshipDescription](), entity)
      for name in path {
        guard let relationship = entity.relationshipsByName[name], let destination = relationship.destinationEntity
        else { break }
        relationships.append(relationship)
        entity = destination
        links[relationships.map(\.name)] = Link(relationships: relationships, entity: entity)
      }
    }
    return Array(links.values)
  }

  /// The query for all objects of its entity from which links lead to some of `objects`.
  package func leading(to objects: [(link: Link, ids: [NSManagedObjectID])]) -> FetchQuery {
    // With the values that rows are sorted by.
    var query = widened(by: 0)
    query.predicate = .any(
      objects.map { link, ids in
        .leading(to: ids.map(\.comparisonValue), path: link.relationships.map { ($0.name, $0.isToMany) })
      })
    // A store of a client's own returns all of them.
    query.predicateSource = nil
    (query.limit, query.offset) = (0, 0)
    return query
  }
}
