import ManagedObjectModel

/// Numbers entities and names their tables and columns.
struct SQLNaming {
  /// The entities in the order of a new store's numbers, which run from 1.
  let numbered: [NSEntityDescription]
  private let numbers: [ObjectIdentifier: Int]
  private let tableNames: [ObjectIdentifier: String]
  private let columns: [ObjectIdentifier: PropertyColumns]
  /// Keys of to-many relationships without an inverse: columns of the destination's table, by the destination entity.
  private let hiddenKeys: [ObjectIdentifier: [PropertyColumns]]

  /// The columns of one property, or the parts of their names.
  struct PropertyColumns {
    /// The name in upper case, unique in its table, without the Z.
    let base: String
    var column: String { "Z\(base)" }
    var entityColumn: String?
    var orderColumn: String?
  }

  /// - Parameter found: The existing numbers of a store, by entity name; other entities are numbered from 1.
  init(_ entities: [NSEntityDescription], numbers found: [String: Int] = [:]) {
    let members = Set(entities.map(ObjectIdentifier.init))
    let roots = entities.filter { $0.superentity == nil }.sorted(by: NSEntityDescription.numberOrder)
    numbered = roots.flatMap(\.withDescendants).filter { members.contains(ObjectIdentifier($0)) }
    let pairs = numbered.enumerated().map { (ObjectIdentifier($1), found[$1.name ?? ""] ?? $0 + 1) }
    let numbers = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    self.numbers = numbers

    var tableNames: [ObjectIdentifier: String] = [:]
    var usedTables: Set<String> = ["_PRIMARYKEY", "_METADATA", "_MODELCACHE"]
    var usedColumns: [ObjectIdentifier: Set<String>] = [:]
    // Columns of join tables are numbered among those that refer to the same entity.
    var usedJoinColumns: [ObjectIdentifier: Set<String>] = [:]
    var columns: [ObjectIdentifier: PropertyColumns] = [:]
    for entity in numbered {
      let root = ObjectIdentifier(entity.rootEntity)
      if entity.superentity == nil {
        tableNames[root] = "Z" + Self.unique(entity.name ?? "", in: &usedTables)
      }
      var used = usedColumns[root] ?? ["_PK", "_ENT", "_OPT"]
      for property in entity.storedProperties where property.needsName {
        if let relationship = property as? NSRelationshipDescription, relationship.isManyToMany {
          // A column of a join table has the name of the relationship that leads to its row.
          let leading = relationship.inverseRelationship ?? relationship
          let base = Self.unique(leading.name, in: &usedJoinColumns[ObjectIdentifier(entity), default: []])
          columns[ObjectIdentifier(leading)] = PropertyColumns(base: base)
        } else {
          columns[ObjectIdentifier(property)] = Self.columns(
            of: property, base: Self.unique(property.name, in: &used), numbers)
        }
      }
      usedColumns[root] = used
    }
    self.tableNames = tableNames

    var hiddenKeys: [ObjectIdentifier: [PropertyColumns]] = [:]
    for entity in numbered {
      let number = numbers[ObjectIdentifier(entity)] ?? 0
      for relationship in entity.storedRelationships where relationship.hasHiddenKey {
        guard let destination = relationship.destinationEntity else { continue }
        let root = ObjectIdentifier(destination.rootEntity)
        let base = Self.unique("\(number)\(relationship.name)", in: &usedColumns[root, default: []])
        let key = PropertyColumns(
          base: base, entityColumn: nil, orderColumn: relationship.isOrdered ? "Z_FOK_\(base)" : nil)
        columns[ObjectIdentifier(relationship)] = key
        hiddenKeys[ObjectIdentifier(destination), default: []].append(key)
      }
    }
    self.columns = columns
    self.hiddenKeys = hiddenKeys
  }

  private static func columns(
    of property: NSPropertyDescription, base: String, _ numbers: [ObjectIdentifier: Int]
  ) -> PropertyColumns {
    var columns = PropertyColumns(base: base)
    if let relationship = property as? NSRelationshipDescription, !relationship.isToMany {
      if let destination = relationship.destinationEntity, !destination.subentities.isEmpty {
        columns.entityColumn = numbers[ObjectIdentifier(destination)].map { "Z\($0)_\(base)" }
      }
      if relationship.inverseRelationship?.isOrdered == true { columns.orderColumn = "Z_FOK_\(base)" }
    }
    return columns
  }

  /// `name` in upper case, with the first free suffix of none, 1, 2, ….
  private static func unique(_ name: String, in used: inout Set<String>) -> String {
    let base = name.uppercased()
    var candidate = base
    var suffix = 1
    while !used.insert(candidate).inserted {
      candidate = "\(base)\(suffix)"
      suffix += 1
    }
    return candidate
  }

  func number(of entity: NSEntityDescription?) -> Int {
    entity.flatMap { numbers[ObjectIdentifier($0)] } ?? 0
  }

  func tableName(of entity: NSEntityDescription) -> String {
    tableNames[ObjectIdentifier(entity.rootEntity)] ?? ""
  }

  func columns(of property: NSPropertyDescription) -> PropertyColumns? { columns[ObjectIdentifier(property)] }

  func hiddenKeys(in entity: NSEntityDescription) -> [PropertyColumns] {
    hiddenKeys[ObjectIdentifier(entity)] ?? []
  }
}

extension NSEntityDescription {
  /// Own properties that a store keeps: attributes by name, then relationships by name.
  var storedProperties: [NSPropertyDescription] { storedAttributes + storedRelationships }

  var storedAttributes: [NSAttributeDescription] {
    ownProperties.compactMap { $0 as? NSAttributeDescription }.filter { !$0.isTransient }
      .sorted { String.byteOrder($0.name, $1.name) }
  }

  var storedRelationships: [NSRelationshipDescription] {
    ownProperties.compactMap { $0 as? NSRelationshipDescription }.filter { !$0.isTransient }
      .sorted { String.byteOrder($0.name, $1.name) }
  }
}

extension NSRelationshipDescription {
  var isManyToMany: Bool { isToMany && inverseRelationship?.isToMany == true }

  /// A to-many relationship without an inverse is a key in the destination's table that is not a property there.
  var hasHiddenKey: Bool { isToMany && inverseRelationship == nil }

  /// For a many-to-many pair, whether this side names the join table: the side of the only entity with subentities,
  /// otherwise of the entity with the lower number; on one entity the later name, and a relationship that is its own
  /// inverse.
  func namesJoinTable(_ number: (NSEntityDescription?) -> Int) -> Bool {
    guard isManyToMany, let inverse = inverseRelationship else { return false }
    let (hasSubentities, otherHas) = (owner?.subentities.isEmpty == false, inverse.owner?.subentities.isEmpty == false)
    if hasSubentities != otherHas { return hasSubentities }
    let (own, other) = (number(owner), number(inverse.owner))
    return own < other || (own == other && !String.byteOrder(name, inverse.name))
  }

  /// Whether the join table of a many-to-many pair is made with the tables of this side's entity: the one with the
  /// lower number.
  func precedesJoinTable(_ number: (NSEntityDescription?) -> Int) -> Bool {
    guard isManyToMany, let inverse = inverseRelationship else { return false }
    let (own, other) = (number(owner), number(inverse.owner))
    return own < other || (own == other && namesJoinTable(number))
  }
}

extension NSPropertyDescription {
  /// Whether a name in the table's namespace is taken, by columns or by many-to-many relationships.
  fileprivate var needsName: Bool {
    guard let relationship = self as? NSRelationshipDescription else { return true }
    return !relationship.isToMany || relationship.isManyToMany
  }
}
