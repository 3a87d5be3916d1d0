import Foundation
import OpenCoreData
import PersistentStores

/// Errors of a save, by record.
extension ImportContexts {
  /// The records that a save has refused; called before its changes are rolled back. Empty for an error that no record
  /// causes.
  func failures(in error: NSError, _ plan: ChunkPlan) -> [Failure] {
    let relationships = plan.links.links.map(\.link.relationship)
    let refused = ([importContext] + levels).flatMap { context in
      context.performAndWait { context.refusedObjects(over: relationships) }
    }
    if refused.isEmpty { return Self.storeFailures(in: error, plan) }
    let linking = Dictionary(
      relationships.map { ($0.name, LinkingRows(plan, over: $0)) }, uniquingKeysWith: { first, _ in first })
    var failures: [Int: Failure] = [:]
    for object in refused {
      for (row, message) in Self.rows(of: object, plan, linking) where failures[row] == nil {
        failures[row] = Failure(row: row, code: .modelError, message: message)
      }
    }
    return failures.values.sorted { $0.row < $1.row }
  }

  /// - Parameter linking: By the name of the relationship.
  private static func rows(
    of object: RefusedObject, _ plan: ChunkPlan, _ linking: [String: LinkingRows]
  ) -> [(row: Int, message: String)] {
    var found: [(row: Int, message: String)] = []
    let own = rows(of: object.id, plan)
    if let message = object.message { found += own.map { ($0, message) } }
    for end in object.ends {
      guard let linking = linking[end.relationship.name] else { continue }
      if end.problem != nil {
        let rows = end.refused(linking.row(of:))
        // A created object may have nothing because a later record leads its entry elsewhere.
        found += (rows.isEmpty ? own.map(linking.row(after:)) : rows).map { ($0, end.message) }
      } else if let message = object.message, own.isEmpty {
        found += end.refused(linking.row(of:)).map { ($0, end.message(saying: message)) }
      }
    }
    return found
  }

  private static func storeFailures(in error: NSError, _ plan: ChunkPlan) -> [Failure] {
    let details = (error.userInfo[NSDetailedErrorsKey] as? [NSError]) ?? [error]
    var failures: [Int: Failure] = [:]
    for detail in details {
      for id in objectIDs(in: detail) {
        let isModel = (1550..<1700).contains(detail.code)
        for row in rows(of: id, plan) where failures[row] == nil {
          let made = isModel ? nil : plan.links.constraintMessage(of: id)
          failures[row] = Failure(
            row: row, code: isModel ? .modelError : .storeConstraint,
            message: (made.map { "\($0): " } ?? "") + detail.localizedDescription)
        }
      }
    }
    return failures.values.sorted { $0.row < $1.row }
  }

  /// The record that determined the entry's values: the one it was made from, or the last that changed it. Those that
  /// lead to a related object, if that was created for them, or that changed it.
  private static func rows(of id: NSManagedObjectID, _ plan: ChunkPlan) -> [Int] {
    if let rows = plan.links.rows(ofRelated: id) { return rows }
    guard id.entity.rootEntity === plan.inserts.entity.rootEntity else { return [] }
    if let row = id.batchRow { return [plan.insertedRows[row]] }
    let row = id.storeKey.flatMap { key in plan.updates.last { $0.storeKey == key }?.row }
    return row.map { [$0] } ?? []
  }

  private static func objectIDs(in error: NSError) -> [NSManagedObjectID] {
    if let object = error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject { return [object.objectID] }
    return error.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID] ?? []
  }
}
