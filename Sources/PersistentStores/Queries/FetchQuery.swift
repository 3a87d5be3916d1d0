import ManagedObjectModel
import Foundation

/// A fetch request in the form that contexts and stores process: resolved, validated and Sendable.
package struct FetchQuery: Sendable {
  package let entity: NSEntityDescription
  package var includesSubentities = true
  package var predicate: BoundPredicate?
  /// The predicate as the client wrote it, for stores that evaluate it themselves.
  package var predicateSource: PredicateNode?
  package var sortKeys: [SortKey] = []
  package var limit = 0
  package var offset = 0
  package var includesPendingChanges = true
  package var values = FetchedValues.all
  /// Values that accompany each row in addition to its own attributes: key paths over relationships to an attribute.
  package var keyPaths: [[String]] = []
  /// The stores to query; nil for all.
  package var affectedStores: [StoreIdentity]?
  /// Names of entities whose new objects go to one of those stores unless another store was chosen for them.
  package var entitiesSavedHere: Set<String> = []
  /// Only objects whose key in the store is greater; nil for all.
  package var keyAbove: Int64?

  package init(entity: NSEntityDescription) { self.entity = entity }

  /// Adds a value that rows are sorted by or displayed with to each row, unless it is one of the row's own.
  ///
  /// - Throws: `NSError` 134060 for a path that does not lead to an attribute.
  package mutating func addKeyPath(_ keyPath: [String]) throws {
    let path = try AttributePath(keyPath, of: entity)
    guard case .attribute = path.end else {
      throw NSError.coreData(
        .coreData,
        "\(keyPath.joined(separator: ".")) of \(entity.name ?? "") is an object, which has no value to sort by or to "
          + "show. Name an attribute of it.")
    }
    if !path.relationships.isEmpty, !keyPaths.contains(keyPath) { keyPaths.append(keyPath) }
  }

  /// False: only identities are requested.
  package var includesValues: Bool {
    get { values != .none }
    set { values = newValue ? .all : .none }
  }

  package var spansSubentities: Bool { includesSubentities && !entity.subentities.isEmpty }

  package func covers(_ other: NSEntityDescription) -> Bool {
    other === entity || (includesSubentities && other.isKindOf(entity: entity))
  }

  /// Whether the query includes the store of this identity.
  package func includes(_ store: StoreIdentity) -> Bool { affectedStores?.contains { $0 === store } ?? true }

  /// Whether the object with `id` is in one of the query's stores, or will be once it is saved.
  package func includes(_ id: NSManagedObjectID) -> Bool {
    switch id.reference {
    case .permanent(let store, _): includes(store)
    case .temporary(let range, let row):
      affectedStores == nil
        || range.storeChosen(row: row).map(includes) ?? entitiesSavedHere.contains(id.entity.name ?? "")
    }
  }

  /// The query for the level below if the level above has changed or deleted this many of its objects: as many results
  /// may drop out, and the rest is sorted again.
  package func widened(by changeCount: Int) -> FetchQuery {
    var below = self
    below.offset = 0
    if limit > 0 {
      // A limit beyond every possible number of objects has no effect.
      let (limit, overflows) = limit.addingReportingOverflow(offset + changeCount)
      below.limit = overflows ? 0 : limit
    }
    let sorting = sortKeys.map(\.name)
    switch values {
    case .all: break
    case .none: if !sorting.isEmpty { below.values = .attributes(Set(sorting)) }
    case .attributes(let names): below.values = .attributes(names.union(sorting))
    }
    return below
  }
}

/// How much of the rows a query wants.
package enum FetchedValues: Sendable, Equatable {
  /// Identities only.
  case none
  /// The values of the attributes with these names; a row's other slots are undefined.
  case attributes(Set<String>)
  case all
}

extension NSError {
  /// A request names an entity that the model does not have.
  package static func unknownEntity(_ name: String?, in request: String, model: NSManagedObjectModel?) -> NSError {
    .coreData(
      .coreData,
      "\(request) names the entity \"\(name ?? "")\", which the model does not have. "
        + "It has: \((model?.entitiesByName.keys.sorted() ?? []).joined(separator: ", ")).")
  }
}
