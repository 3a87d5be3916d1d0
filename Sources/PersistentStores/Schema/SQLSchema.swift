import ManagedObjectModel

/// The tables of a model in a SQLite store, in the layout of a new store of Apple's framework (docs/coredata-format.md,
/// "Tables and columns").
///
/// An existing store may have other numbers, names and orders: `init(model:configuration:existing:location:)` matches the
/// schema to them. Statements name their columns.
package struct SQLSchema: Sendable {
  /// Depth first, by name at each level: the order of a new store's numbers, which start at 1.
  package let entities: [SQLEntity]
  /// One table for each root entity, in order of its number.
  package let tables: [SQLTable]
  package let joinTables: [SQLJoinTable]
  /// The statements that create a new store's tables and indexes, in order, without trailing semicolons.
  package let creationStatements: [String]
  let derivations: [SQLDerivation]
  /// Whether triggers keep attributes or trees up to date.
  package var hasDerivations: Bool { !derivations.isEmpty }
  /// What a new store would lack of the model, for messages.
  package let unsupportedParts: [String]

  private let indexByName: [String: Int]
  private let indexByNumber: [Int: Int]

  /// The schema of the entities of a configuration (nil: of all).
  ///
  /// Throws an NSError (NSCoreDataError) that names the entity or property if a SQLite store does not support the
  /// model: unknown configuration, entities that depend on entities outside of it, names that are not identifiers,
  /// stored attributes without a storable type.
  package init(model: NSManagedObjectModel, configuration: String? = nil) throws {
    let naming = SQLNaming(try Self.entities(of: model, configuration))
    self.init(naming, entities: naming.numbered.map { naming.sqlEntity(for: $0) })
  }

  init(_ naming: SQLNaming, entities: [SQLEntity]) {
    let found = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let described = Dictionary(
      naming.numbered.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    self.entities = entities.map { entity in
      var entity = entity
      entity.computedSlots = described[entity.name].map { DerivationSource.slots(of: $0, in: found) } ?? []
      return entity
    }
    tables = naming.tables
    joinTables = naming.joinTables
    creationStatements = naming.creationStatements
    derivations = naming.derivations
    unsupportedParts = naming.unsupportedParts
    indexByName = Dictionary(
      entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    indexByNumber = Dictionary(
      entities.enumerated().map { ($1.number, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The entities that a store keeps, after validation.
  static func entities(
    of model: NSManagedObjectModel, _ configuration: String?
  ) throws -> [NSEntityDescription] {
    guard let chosen = model.entities(forConfigurationName: configuration) else {
      throw SQLSchemaCheck.error(
        "The model has no configuration '\(configuration ?? "")'.",
        "Use one of: \(model.configurations.joined(separator: ", ")).")
    }
    try SQLSchemaCheck.check(chosen)
    return chosen
  }

  /// The tables that rows are read from and written to: those of the entities and the join tables.
  package var tableNames: [String] {
    let joins = entities.flatMap(\.relationships.values).compactMap { relationship in
      if case .manyToMany(let table, _, _, _) = relationship { table } else { nil }
    }
    return Set(entities.map(\.tableName) + joins).sorted(by: String.byteOrder)
  }

  /// The entity with that name; nil if the store does not keep it.
  package func entity(named name: String) -> SQLEntity? { indexByName[name].map { entities[$0] } }

  /// The entity with that number; nil if there is none.
  package func entity(numbered number: Int) -> SQLEntity? { indexByNumber[number].map { entities[$0] } }
}

/// An entity in a SQLite store.
package struct SQLEntity: Sendable {
  package let name: String
  /// Z_ENT.
  package let number: Int
  /// The number of the superentity (Z_SUPER), 0 for a root.
  package let superNumber: Int
  /// The number of the root entity, whose row of Z_PRIMARYKEY holds the key sequence of the whole tree.
  package let rootNumber: Int
  /// The numbers of the entity and of all that inherit from it, ascending.
  package let numbers: [Int]
  package internal(set) var tableName: String
  /// By attribute slot; nil for transient attributes, which have no column.
  package internal(set) var attributeColumns: [SQLColumn?]
  /// The slots of derived attributes: saves leave their columns to triggers.
  package internal(set) var computedSlots: Set<Int> = []
  /// Own and inherited relationships that are stored, by name.
  package internal(set) var relationships: [String: SQLRelationship]

  /// The columns that a save writes, each with its attribute's slot.
  var writtenColumns: [(slot: Int, column: SQLColumn)] {
    attributeColumns.enumerated().compactMap { slot, column in
      column.flatMap { computedSlots.contains(slot) ? nil : (slot, $0) }
    }
  }

  /// Whether the table may contain rows of other entities.
  package var hasFamily: Bool { superNumber != 0 || numbers.count > 1 }
}

/// A column as declared in its CREATE TABLE.
package struct SQLColumn: Sendable, Hashable {
  package let name: String
  package let type: SQLColumnType
}

/// The column types that Core Data writes.
package enum SQLColumnType: String, Sendable {
  case integer = "INTEGER"
  case float = "FLOAT"
  case timestamp = "TIMESTAMP"
  case decimal = "DECIMAL"
  case varchar = "VARCHAR"
  case blob = "BLOB"
}

/// How a relationship is stored.
package enum SQLRelationship: Sendable, Equatable {
  /// A key in the entity's own table; `entityColumn` holds the destination's Z_ENT if it has subentities, `orderColumn`
  /// the position in an ordered inverse.
  case toOne(column: String, entityColumn: String?, orderColumn: String?)
  /// A key in the table of the destination, with the position there if this relationship is ordered.
  case toMany(table: String, column: String, orderColumn: String?)
  /// Rows of a join table: the key of this side, of the other side, and the position if this relationship is ordered.
  case manyToMany(table: String, sourceColumn: String, destinationColumn: String, orderColumn: String?)
}

/// The table of a root entity: Z_PK, Z_ENT, Z_OPT and then `columns`.
package struct SQLTable: Sendable, Equatable {
  package let name: String
  package let columns: [SQLColumn]
}

/// The table of a many-to-many relationship.
package struct SQLJoinTable: Sendable, Equatable {
  package let name: String
  /// The number of the entity whose relationship names the table.
  package let ownerNumber: Int
  package let firstColumn: String
  package let secondColumn: String
  package let orderColumns: [String]
}
