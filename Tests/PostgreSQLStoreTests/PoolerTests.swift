import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
@testable import PostgreSQLStore

// Rule (docs/decisions/0039): a store keeps no state on the server between transactions.

@Suite(
  "A store behind pgbouncer in transaction mode",
  .enabled(if: ConnectionPooler.isThere, "there is no pgbouncer, or no server for it"))
struct PoolerTests {
  @Test("Several coordinators save, fetch, walk and update at the same time over three connections")
  func transactions() async throws {
    let server = try #require(PostgreSQLServer.shared)
    let pooler = try ConnectionPooler(before: server, database: "pooled")
    let address = try #require(pooler.address)
    let model = try NSManagedObjectModel.load(xml: Data(ServerStore.xml.utf8))
    let entity = try #require(model.entitiesByName["Session"])
    func coordinator() throws -> NSPersistentStoreCoordinator {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: address)
      return coordinator
    }
    _ = try coordinator()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        let own = try coordinator()
        group.addTask {
          for round in 0..<10 {
            try ServerStore.save((0..<20).map { "\(number) \(round) \($0)" }, own)
            let context = ServerStore.context(own)
            try context.performAndWait {
              let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
              request.predicate = NSPredicate(format: "place BEGINSWITH %@", "\(number) ")
              #expect(try context.count(for: request) == (round + 1) * 20)
              var seen = 0
              try context.walk(request, rowsPerBatch: 7) { batch, _ in
                seen += batch.count
                return true
              }
              #expect(seen == (round + 1) * 20)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let last = try coordinator()
    let store = try #require(last.rowStores.first)
    let rows = try store.read(nil) { try $0.rows(FetchQuery(entity: entity)) }
    #expect(rows.count == 800 && Set(rows.map(\.id)).count == 800)
    withExtendedLifetime(last) {}
  }
}
