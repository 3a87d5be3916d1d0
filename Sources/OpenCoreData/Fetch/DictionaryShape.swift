import Foundation

/// What the dictionaries of a fetch hold, and which rows become one.
struct DictionaryShape: Sendable {
  enum Column: Sendable, Equatable {
    /// An attribute of the entity, or at the end of a path of to-one relationships.
    case attribute(NSAttributeDescription, path: [String])
    case objectID

    var name: String {
      switch self {
      case .attribute(_, let path): path.joined(separator: ".")
      case .objectID: "objectID"
      }
    }
  }

  var columns: [Column]
  var isDistinct = false
  /// Names of attributes; empty: rows stay single.
  var groupNames: [String] = []
  var having: BoundPredicate?

  /// Whether a result may stand for several rows.
  var joinsRows: Bool { isDistinct || !groupNames.isEmpty }
}

/// One result: who it is, where that was asked for, and its values in the order of the shape's columns.
struct DictionaryRow: Sendable {
  let id: NSManagedObjectID?
  let values: [StoredValue]

  func dictionary(_ shape: DictionaryShape) -> NSDictionary {
    let result = NSMutableDictionary()
    for (column, value) in zip(shape.columns, values) {
      switch column {
      case .objectID: if let id { result[NSString(string: column.name)] = id }
      case .attribute(let attribute, _):
        if let value = attribute.foundationValue(from: value) { result[NSString(string: column.name)] = value }
      }
    }
    return result
  }
}

extension NSFetchRequest {
  /// - Throws: `NSError` 134060 for properties that the entity does not store, or that don't go with a grouping.
  func dictionaryShape(_ query: FetchQuery) throws -> DictionaryShape {
    let entity = query.entity
    var shape = DictionaryShape(
      columns: try propertiesToFetch.map { try $0.map { try Self.column(of: $0, in: entity) } }
        ?? entity.attributeSlots.filter { !$0.isTransient }.map { .attribute($0, path: [$0.name]) })
    guard !shape.columns.isEmpty else {
      throw NSError.coreData(.coreData, "propertiesToFetch is empty. Name an attribute, or leave it nil for all.")
    }
    shape.isDistinct = returnsDistinctResults
    shape.groupNames = try (propertiesToGroupBy ?? []).map { try Self.column(of: $0, in: entity).name }
    shape.having = try havingPredicate?.predicateNode().bound(to: EntityPredicateSchema(entity: entity))
    try checkGroups(shape, query)
    return shape
  }

  private static func column(of property: Any, in entity: NSEntityDescription) throws -> DictionaryShape.Column {
    guard let name = (property as? NSPropertyDescription)?.name ?? property as? String else {
      throw NSError.coreData(
        .coreData, "\(property) is no property: give the name of an attribute, or its NSAttributeDescription.")
    }
    if name == "objectID" { return .objectID }
    let path = name.split(separator: ".").map(String.init)
    guard case .attribute(let attribute, _) = try AttributePath(path, of: entity).end else {
      throw NSError.coreData(
        .coreData,
        "\(name) is an object, which a dictionary has no value of. Fetch an attribute of it, or its objectID.")
    }
    guard !attribute.isTransient else {
      throw NSError.coreData(
        .coreData, "The attribute \(name) is transient: the store has no values of it. Fetch objects instead.")
    }
    return .attribute(attribute, path: path)
  }

  /// A group has one value only of what it is made by.
  private func checkGroups(_ shape: DictionaryShape, _ query: FetchQuery) throws {
    guard !shape.groupNames.isEmpty else {
      guard shape.having == nil else {
        throw NSError.coreData(.coreData, "havingPredicate chooses among groups: set propertiesToGroupBy too.")
      }
      return
    }
    let used = shape.columns.map(\.name) + query.sortKeys.map(\.name) + (shape.having?.keys.map(\.name) ?? [])
    if let other = used.first(where: { !shape.groupNames.contains($0) }) {
      throw NSError.coreData(
        .coreData,
        "\(other) is not among propertiesToGroupBy (\(shape.groupNames.joined(separator: ", "))): a group has no "
          + "single value of it. Add it there, or leave it out of what is fetched, sorted by and required.")
    }
  }
}
