import ManagedObjectModel

/// Where the values of a derivation come from, in the tables of a store.
struct DerivationSource {
  /// A to-one relationship on the way: its key column, and the table that the key leads to.
  struct Hop {
    let key: String
    let table: String
  }

  /// The objects of a to-many relationship.
  struct Members {
    /// The table with the keys of the owners, in the column `key`.
    let table: String
    let key: String
    /// The table of the objects and the column with their keys, if `table` is a join table.
    var joined: (table: String, column: String)?
    /// The column that is added up; nil if the objects are counted.
    let summand: (column: String, isWhole: Bool)?
  }

  enum End {
    case now
    case column(String)
    case members(Members)
  }

  let hops: [Hop]
  let end: End
  /// The function of the value; nil for the value itself.
  let function: ScalarFunction?
}

extension DerivationSource {
  /// Nil for a derivation of another form, and for one that leads out of the store.
  init?(_ attribute: NSDerivedAttributeDescription, in entities: [String: SQLEntity]) {
    guard let owner = attribute.owner, let derivation = attribute.derivation else { return nil }
    switch derivation {
    case .now: self.init(hops: [], end: .now, function: nil)
    case .path(let path):
      guard let found = Way(from: owner, path[...], in: entities), let column = found.column else { return nil }
      self.init(hops: found.hops, end: .column(column.name), function: nil)
    case .call("count", let path):
      guard let found = Way(from: owner, path[...], in: entities), found.rest.isEmpty,
        let members = found.members(addingUp: nil)
      else { return nil }
      self.init(hops: found.hops, end: .members(members), function: nil)
    case .call("sum", let path):
      guard let found = Way(from: owner, path[...], in: entities), let elements = found.elements,
        let end = Way(from: elements, found.rest, in: entities), end.hops.isEmpty, let summand = end.column,
        let members = found.members(addingUp: (summand.name, summand.type == .integer))
      else { return nil }
      self.init(hops: found.hops, end: .members(members), function: nil)
    case .call(let name, let path):
      guard let function = ScalarFunction(rawValue: name), let found = Way(from: owner, path[...], in: entities),
        let column = found.column, column.type == .varchar
      else { return nil }
      self.init(hops: found.hops, end: .column(column.name), function: function)
    }
  }

  /// The slots of an entity whose values are computed, inherited ones included.
  static func slots(of entity: NSEntityDescription, in entities: [String: SQLEntity]) -> Set<Int> {
    let slots = entity.attributeSlots.enumerated().filter { _, attribute in
      guard let derived = attribute as? NSDerivedAttributeDescription else { return false }
      return Self(derived, in: entities) != nil
    }
    return Set(slots.map(\.offset))
  }

  /// A key path over to-one relationships to an attribute or a to-many relationship.
  private struct Way {
    private(set) var hops: [Hop] = []
    /// The attribute at the end.
    private(set) var column: SQLColumn?
    private(set) var toMany: SQLRelationship?
    /// The entity and table of the to-many relationship's objects.
    private(set) var elements: NSEntityDescription?
    private var elementsTable = ""
    /// What follows the to-many relationship.
    private(set) var rest: ArraySlice<String> = []

    /// Nil if a key is not a stored property, and if something follows an attribute.
    init?(from start: NSEntityDescription, _ path: ArraySlice<String>, in entities: [String: SQLEntity]) {
      var entity = start
      for (index, key) in zip(path.indices, path) {
        guard let stored = entities[entity.name ?? ""] else { return nil }
        if let relationship = stored.relationships[key] {
          guard let destination = entity.relationshipsByName[key]?.destinationEntity,
            let table = entities[destination.name ?? ""]?.tableName
          else { return nil }
          guard case .toOne(let column, _, _) = relationship else {
            (toMany, elements, elementsTable) = (relationship, destination, table)
            rest = path[(index + 1)...]
            return
          }
          hops.append(Hop(key: column, table: table))
          entity = destination
        } else {
          guard key == path.last, index == path.indices.last,
            let slot = entity.attributeSlots.firstIndex(where: { $0.name == key }),
            let found = stored.attributeColumns[slot]
          else { return nil }
          column = found
        }
      }
      if column == nil { return nil }
    }

    func members(addingUp summand: (column: String, isWhole: Bool)?) -> Members? {
      switch toMany {
      case .toMany(let table, let column, _): Members(table: table, key: column, summand: summand)
      case .manyToMany(let table, let source, let destination, _):
        Members(table: table, key: source, joined: (elementsTable, destination), summand: summand)
      default: nil
      }
    }
  }
}
