import Foundation
import TestSupport
import Testing

@testable import OpenCoreData
@testable import PersistentStores
@testable import PostgreSQLStore

/// Without a server the suites over PostgreSQL are left out, by name and with the reason.
let serverComment = Comment(rawValue: PostgreSQLServer.problem)

/// A store of the journal's shape in a schema of its own.
final class ServerStore {
  let model: NSManagedObjectModel
  let address: URL
  let schema: String

  static let xml = """
    <model>
      <entity name="Session">
        <attribute name="amount" optional="YES" attributeType="Decimal"/>
        <attribute name="data" optional="YES" attributeType="Binary"/>
        <attribute name="date" optional="YES" attributeType="Date"/>
        <attribute name="flag" optional="YES" attributeType="Boolean"/>
        <attribute name="height" optional="YES" attributeType="Double"/>
        <attribute name="id" optional="YES" attributeType="UUID"/>
        <attribute name="large" optional="YES" attributeType="Integer 64"/>
        <attribute name="middle" optional="YES" attributeType="Integer 32"/>
        <attribute name="place" optional="YES" attributeType="String"/>
        <attribute name="rating" optional="YES" attributeType="Integer 16"/>
        <attribute name="url" optional="YES" attributeType="URI"/>
        <relationship name="spot" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Spot" inverseName="sessions" inverseEntity="Spot"/>
      </entity>
      <entity name="Spot">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="sessions" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Session" inverseName="spot" inverseEntity="Session"/>
      </entity>
    </model>
    """

  init() throws {
    let server = try #require(PostgreSQLServer.shared, serverComment)
    model = try NSManagedObjectModel.load(xml: Data(Self.xml.utf8))
    schema = "s\(UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased())"
    _ = try server.psql("CREATE SCHEMA \(schema)")
    address = try #require(server.address(["options": "-csearch_path=\(schema)"]))
  }

  func psql(_ statements: String) throws -> String {
    try #require(PostgreSQLServer.shared, serverComment).psql(statements, schema: schema)
  }

  func coordinator(options: [AnyHashable: Any]? = nil) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSPostgreSQLStoreType, configurationName: nil, at: address, options: options)
    return coordinator
  }

  static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Saves sessions with places.
  static func save(_ places: [String], _ coordinator: NSPersistentStoreCoordinator) throws {
    let context = context(coordinator)
    try context.performAndWait {
      for place in places {
        NSEntityDescription.insertNewObject(forEntityName: "Session", into: context).setValue(place, forKey: "place")
      }
      try context.save()
    }
  }
}
