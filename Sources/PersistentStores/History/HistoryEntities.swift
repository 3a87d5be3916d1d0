import Foundation
import ManagedObjectModel

/// The entities of a store, as its history names them.
struct HistoryEntities {
  let schema: SQLSchema
  let idSpaces: [Int: PermanentIDSpace]
  let identity: StoreIdentity

  func sqlEntity(_ entity: NSEntityDescription) throws -> SQLEntity {
    guard let found = schema.entity(named: entity.name ?? "") else {
      throw NSError.coreData(
        .coreData, "The store \(identity.uuid) does not keep the entity \(entity.name ?? "") of a change.")
    }
    return found
  }

  func key(of id: NSManagedObjectID) throws -> Int64 {
    guard case .permanent(let store, let key) = id.resolved.reference, store === identity else {
      throw NSError.coreData(.save, "The object \(id) does not belong to the store \(identity.uuid).")
    }
    return key
  }
}
