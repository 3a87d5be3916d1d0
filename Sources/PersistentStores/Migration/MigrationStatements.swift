import ManagedObjectModel
import Foundation

/// The statements that move rows from the renamed old tables into the new ones.
struct MigrationStatements {
  let plan: MigrationPlan

  var match: ModelMatch { plan.match }

  /// One for each entity that continues, then those of the join tables.
  var moves: [SQLFragment] { lookupIndexes + plan.destination.entities.compactMap(rows) + links }

  /// A column of a new table and the expression that fills it; `s` is the old row.
  struct Filling {
    let column: String
    let value: SQLFragment
  }

  // MARK: Rows

  private func rows(of entity: SQLEntity) -> SQLFragment? {
    guard let new = plan.destinationEntities[entity.name], let old = match.source(of: new),
      let oldEntity = plan.source.entity(named: old.name ?? "")
    else { return nil }
    let fixed = [
      Filling(column: "Z_PK", value: SQLFragment("s.Z_PK")),
      Filling(column: "Z_ENT", value: SQLFragment("\(entity.number)")),
      Filling(column: "Z_OPT", value: SQLFragment("s.Z_OPT")),
    ]
    let fillings = fixed + attributes(of: new, in: entity, from: old, in: oldEntity) + keys(of: new, entity, oldEntity)
    return SQLFragment("INSERT INTO \(entity.tableName) (\(fillings.map(\.column).joined(separator: ", "))) SELECT ")
      + .joined(fillings.map(\.value), separator: ", ")
      + SQLFragment(" FROM \(MigrationPlan.oldTableName(oldEntity.tableName)) s WHERE s.Z_ENT = \(oldEntity.number)")
  }

  /// Existing values stay. An added attribute gets the default value, as does a NULL that is not allowed any more.
  private func attributes(
    of new: NSEntityDescription, in entity: SQLEntity, from old: NSEntityDescription, in oldEntity: SQLEntity
  ) -> [Filling] {
    zip(new.attributeSlots, entity.attributeColumns).compactMap { attribute, column in
      guard let column else { return nil }
      let standard =
        attribute.mayLieOutside ? ExternalData.column(for: attribute.defaultStoredValue) : attribute.defaultStoredValue
      let formerColumn = match.source(of: attribute, in: new).flatMap { old.slot(named: $0.name) }
        .flatMap { oldEntity.attributeColumns[$0]?.name }
      guard let formerColumn else {
        return standard.isNull ? nil : Filling(column: column.name, value: SQLFragment("?", [standard]))
      }
      let fillsGaps = !attribute.isOptional && !standard.isNull
      let value =
        fillsGaps ? SQLFragment("coalesce(s.\(formerColumn), ?)", [standard]) : SQLFragment("s.\(formerColumn)")
      return Filling(column: column.name, value: value)
    }
  }

  // MARK: What the new model keeps

  /// Z_ENT of an entity in the old rows; nil if the store did not contain it.
  func oldNumber(of entity: NSEntityDescription) -> Int? { plan.source.entity(named: entity.name ?? "")?.number }

  /// The numbers, in old rows, of an entity and all that inherit from it.
  func oldNumbers(below entity: NSEntityDescription) -> Set<Int> {
    Set(entity.withDescendants.compactMap(oldNumber))
  }

  /// Those of them whose rows are moved.
  func keptEntities(below entity: NSEntityDescription) -> Set<Int> {
    Set(entity.withDescendants.filter { match.destination(of: $0) != nil }.compactMap(oldNumber))
  }

  /// A condition that `key` belongs to a row of `allowed`; nil if it can't belong to another row.
  func keptCondition(of key: String, in entity: NSEntityDescription, _ allowed: Set<Int>) -> String? {
    guard !oldNumbers(below: entity).isSubset(of: allowed), let table = oldTable(of: entity) else { return nil }
    return "EXISTS (SELECT 1 FROM \(table) d WHERE d.Z_PK = \(key) AND d.Z_ENT IN (\(Self.list(allowed))))"
  }

  func oldTable(of entity: NSEntityDescription) -> String? {
    plan.source.entity(named: entity.name ?? "").map { MigrationPlan.oldTableName($0.tableName) }
  }

  static func list(_ numbers: Set<Int>) -> String { numbers.sorted().map(String.init).joined(separator: ", ") }
}
