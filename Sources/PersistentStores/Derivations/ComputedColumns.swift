import ManagedObjectModel

/// Finds the computed columns of a store's entities.
struct ComputedColumns {
  private let entities: [String: SQLEntity]

  init(_ entities: [SQLEntity]) {
    self.entities = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The columns of the attributes that an entity declares, by name.
  func columns(of entity: NSEntityDescription) -> [ComputedColumn] {
    entity.storedAttributes.compactMap { ($0 as? NSDerivedAttributeDescription).flatMap(column) }
  }

  private func column(of attribute: NSDerivedAttributeDescription) -> ComputedColumn? {
    guard let owner = attribute.owner, let entity = entities[owner.name ?? ""],
      let slot = owner.attributeSlots.firstIndex(where: { $0 === attribute }),
      let column = entity.attributeColumns[slot], let source = DerivationSource(attribute, in: entities)
    else { return nil }
    let computation = Computation(entity: entity, column: column.name, source: source)
    let isTime = if case .now = source.end { true } else { false }
    return ComputedColumn(
      entityName: entity.name, attributeName: attribute.name, triggers: computation.triggers,
      tables: Set(computation.events.map(\.table)), fillStatement: isTime ? nil : computation.update(where: nil))
  }
}

/// The SQL that computes one column.
private struct Computation {
  let entity: SQLEntity
  let column: String
  let source: DerivationSource

  private var table: String { entity.tableName }

  // MARK: Values

  /// The value of a row of the table.
  private var value: String {
    guard !source.hops.isEmpty else { return applied(end(of: table)) }
    let joins = zip(source.hops, source.hops.dropFirst()).enumerated().map { index, pair in
      " JOIN \(pair.1.table) d\(index + 1) ON d\(index + 1).Z_PK = d\(index).\(pair.1.key)"
    }
    return applied(
      "(SELECT \(end(of: "d\(source.hops.count - 1)")) FROM \(source.hops[0].table) d0\(joins.joined()) "
        + "WHERE d0.Z_PK = \(table).\(source.hops[0].key))")
  }

  private func applied(_ value: String) -> String { source.function.map { "\($0.sqlName)(\(value))" } ?? value }

  private func end(of row: String) -> String {
    switch source.end {
    case .now: "\(SQLiteConnection.nowFunction)()"
    case .column(let column): "\(row).\(column)"
    case .members(let members): members.summary(of: row)
    }
  }

  /// - Parameters:
  ///   - step: What is added to a known value in place of computing it.
  ///   - condition: Which rows of the entity are computed; nil for all.
  func update(by step: String? = nil, where condition: String?) -> String {
    let conditions = [entity.rowCondition(""), condition].compactMap(\.self)
    let result = step.map { "coalesce(\(column) \($0), \(value))" } ?? value
    return "UPDATE \(table) SET \(column) = \(result)"
      + (conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))")
  }

  // MARK: Triggers

  var triggers: [String] {
    events.enumerated().map { index, event in
      "CREATE TEMP TRIGGER ocd_derived_\(table)_\(column)_\(index) AFTER \(event.event) ON main.\(event.table)"
        + (event.condition.map { " WHEN \($0)" } ?? "") + " BEGIN \(event.update); END"
    }
  }

  var events: [Event] { ownEvents + relatedEvents + memberEvents }

  /// What happens to rows of a table, and the update that it makes necessary.
  struct Event {
    let event: String
    let table: String
    var condition: String?
    let update: String
  }

  /// Insertions and changes of the row itself.
  private var ownEvents: [Event] {
    let watched: String? =
      switch source.end {
      case .now: "Z_OPT"
      case .column(let column): source.hops.first?.key ?? column
      case .members: source.hops.first?.key
      }
    let events = ["INSERT"] + (watched.map { ["UPDATE OF \($0)"] } ?? [])
    return events.map { event in
      Event(
        event: event, table: table, condition: entity.rowCondition("NEW."),
        update: update(where: "Z_PK = NEW.Z_PK"))
    }
  }

  /// Insertions and changes of the rows that to-one relationships lead to.
  private var relatedEvents: [Event] {
    source.hops.enumerated().flatMap { index, hop in
      var watched: String?
      if index + 1 < source.hops.count {
        watched = source.hops[index + 1].key
      } else if case .column(let column) = source.end {
        watched = column
      }
      let update = update(where: rows(leadingTo: "NEW.Z_PK", hops: index + 1))
      return (["INSERT"] + (watched.map { ["UPDATE OF \($0)"] } ?? [])).map { event in
        Event(event: event, table: hop.table, update: update)
      }
    }
  }

  /// The condition for rows from which so many to-one relationships lead to the row with a key.
  private func rows(leadingTo key: String, hops count: Int) -> String {
    guard let first = source.hops.first, count > 0 else { return "Z_PK = \(key)" }
    var keys = "= \(key)"
    for index in (1..<count).reversed() {
      keys = "IN (SELECT Z_PK FROM \(source.hops[index - 1].table) WHERE \(source.hops[index].key) \(keys))"
    }
    return "\(first.key) \(keys)"
  }

  /// Changes of the objects of a to-many relationship.
  private var memberEvents: [Event] {
    guard case .members(let members) = source.end else { return [] }
    let counts = members.summand == nil && members.joined == nil && source.hops.isEmpty
    func change(_ event: String, of row: String, where condition: String, adding step: String) -> Event {
      let owner = rows(leadingTo: "\(row).\(members.key)", hops: source.hops.count)
      let update = update(by: counts ? step : nil, where: owner)
      return Event(event: event, table: members.table, condition: condition, update: update)
    }
    let key = members.key
    let isMoved = "OLD.\(key) IS NOT NEW.\(key)"
    var result = [
      change("INSERT", of: "NEW", where: "NEW.\(key) NOT NULL", adding: "+ 1"),
      change("UPDATE OF \(key)", of: "NEW", where: "NEW.\(key) NOT NULL AND \(isMoved)", adding: "+ 1"),
      change("UPDATE OF \(key)", of: "OLD", where: "OLD.\(key) NOT NULL AND \(isMoved)", adding: "- 1"),
      change("DELETE", of: "OLD", where: "OLD.\(key) NOT NULL", adding: "- 1"),
    ]
    if let summand = members.summand {
      result.append(summandChange(summand.column, of: members))
    }
    return result
  }

  /// A change of a value that is added up.
  private func summandChange(_ column: String, of members: DerivationSource.Members) -> Event {
    guard let joined = members.joined else {
      return Event(
        event: "UPDATE OF \(column)", table: members.table, condition: "NEW.\(members.key) NOT NULL",
        update: update(where: rows(leadingTo: "NEW.\(members.key)", hops: source.hops.count)))
    }
    let owners = "(SELECT \(members.key) FROM \(members.table) WHERE \(joined.column) = NEW.Z_PK)"
    return Event(
      event: "UPDATE OF \(column)", table: joined.table,
      update: update(where: rows(leadingToAny: owners)))
  }

  /// As `rows(leadingTo:hops:)` over all hops, to any of several rows.
  private func rows(leadingToAny keys: String) -> String {
    guard let first = source.hops.first else { return "Z_PK IN \(keys)" }
    var keys = "IN \(keys)"
    for index in (1..<source.hops.count).reversed() {
      keys = "IN (SELECT Z_PK FROM \(source.hops[index - 1].table) WHERE \(source.hops[index].key) \(keys))"
    }
    return "\(first.key) \(keys)"
  }
}

extension DerivationSource.Members {
  /// The number or sum of the objects of a row.
  fileprivate func summary(of row: String) -> String {
    guard let summand else { return "(SELECT count(*) FROM \(table) m WHERE m.\(key) = \(row).Z_PK)" }
    let sum = ValueSummary.sum.sqlOfAny(
      SQLFragment("\(ValueSummary.sum.sqlFunction)(\(joined == nil ? "m" : "e").\(summand.column))"),
      summand.isWhole ? .integer : .real)
    let join = joined.map { " JOIN \($0.table) e ON e.Z_PK = m.\($0.column)" } ?? ""
    return "(SELECT \(sum.text) FROM \(table) m\(join) WHERE m.\(key) = \(row).Z_PK)"
  }
}

extension SQLEntity {
  /// The condition that a row of the table is of this entity or one that inherits from it; nil where all rows are.
  fileprivate func rowCondition(_ row: String) -> String? {
    hasFamily ? "\(row)Z_ENT IN (\(numbers.map(String.init).joined(separator: ", ")))" : nil
  }
}
