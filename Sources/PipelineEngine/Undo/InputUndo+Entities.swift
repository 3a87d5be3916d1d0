import Foundation
import OpenCoreData
import PersistentStores

/// The entities that inputs concern.
extension InputUndo {
  /// The undos of inputs, one for each entity whose objects they have inserted or changed. The entity of the newest input
  /// comes first, because its entries may lead to the others, and those of related objects come last.
  ///
  /// - Parameters:
  ///   - inputs: Entries of the ledger, the newest first, none of them undone.
  ///   - keepsRelated: Whether related objects keep the values that the inputs have given them.
  /// - Throws: ``UndoRefusal`` if the model does not have an entity.
  static func all(
    of inputs: [LedgerEntry], in container: NSPersistentContainer, tables: LedgerTables, program: String,
    keepsRelated: Bool = false
  ) throws -> [InputUndo] {
    var (names, inputsOfEntity) = ([String](), [String: [LedgerEntry]]())
    func note(_ input: LedgerEntry, _ entity: String) {
      if inputsOfEntity[entity] == nil { names.append(entity) }
      if inputsOfEntity[entity]?.last?.id != input.id { inputsOfEntity[entity, default: []].append(input) }
    }
    for input in inputs { note(input, input.entity) }
    let coordinator = container.persistentStoreCoordinator
    if !keepsRelated, try tables.layout(in: coordinator) ?? .first != .first {
      for input in inputs {
        for entity in try changedEntities(of: input, tables, in: coordinator) where entity != input.entity {
          note(input, entity)
        }
      }
    }
    var rest = names[...]
    return try names.map { name in
      guard let entity = coordinator.managedObjectModel.entitiesByName[name] else {
        throw unknownEntity(name)
      }
      rest.removeFirst()
      let later = Set(rest.flatMap { inputsOfEntity[$0, default: []].map(\.id) })
      let own = inputsOfEntity[name, default: []]
      return InputUndo(
        own, finishing: Set(own.map(\.id)).subtracting(later), in: container, entity: entity, tables: tables,
        program: program)
    }
  }

  static func unknownEntity(_ name: String) -> UndoRefusal {
    UndoRefusal(
      message: "the model has no entity '\(name)', which the import filled; name the store's model with --model")
  }

  /// The entities of related objects that an input has changed.
  private static func changedEntities(
    of input: LedgerEntry, _ tables: LedgerTables, in coordinator: NSPersistentStoreCoordinator
  ) throws -> [String] {
    let rows = try coordinator.participantRows(
      "SELECT DISTINCT substr(entries, 1, \(OverwrittenEntries.headBytes)) FROM \(tables.overwritten) "
        + "WHERE inputID = ? AND entries IS NOT NULL", [input.id])
    let names = rows.compactMap { ($0[0] as? Data).flatMap(OverwrittenEntries.entity(ofHead:)) }
    return Set(names).sorted()
  }
}
