import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

/// A model with every kind of relationship, and stores of it.
///
/// A node has one partner, a parent and children, friends (its own inverse), tags and places in ordered lists of tags,
/// a box that orders its items, and a note that does not know of it. A leaf is a kind of node.
struct LinkedGraph: Sendable {
  static let xml = """
    <model>
      <entity name="Box">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="items" optional="YES" toMany="YES" ordered="YES" destinationEntity="Node" inverseName="box" inverseEntity="Node"/>
      </entity>
      <entity name="Node">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="box" optional="YES" maxCount="1" destinationEntity="Box" inverseName="items" inverseEntity="Box"/>
        <relationship name="children" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Node" inverseName="parent" inverseEntity="Node"/>
        <relationship name="friends" optional="YES" toMany="YES" destinationEntity="Node" inverseName="friends" inverseEntity="Node"/>
        <relationship name="note" optional="YES" maxCount="1" destinationEntity="Tag"/>
        <relationship name="parent" optional="YES" maxCount="1" destinationEntity="Node" inverseName="children" inverseEntity="Node"/>
        <relationship name="partner" optional="YES" maxCount="1" destinationEntity="Node" inverseName="partner" inverseEntity="Node"/>
        <relationship name="rankings" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="ranked" inverseEntity="Tag"/>
        <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="nodes" inverseEntity="Tag"/>
      </entity>
      <entity name="Leaf" parentEntity="Node">
        <attribute name="colour" optional="YES" attributeType="String"/>
      </entity>
      <entity name="Tag">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="nodes" optional="YES" toMany="YES" destinationEntity="Node" inverseName="tags" inverseEntity="Node"/>
        <relationship name="ranked" optional="YES" toMany="YES" ordered="YES" destinationEntity="Node" inverseName="rankings" inverseEntity="Node"/>
      </entity>
    </model>
    """

  let folder: TemporaryFolder
  let file: URL
  let model: NSManagedObjectModel
  let coordinator: NSPersistentStoreCoordinator
  let kind: StoreKind

  init(xml: String = Self.xml, kind: StoreKind = .sqlite, options: [AnyHashable: Any]? = nil) throws {
    self.kind = kind
    folder = try TemporaryFolder()
    file = folder.file("Graph.sqlite")
    model = try NSManagedObjectModel.load(xml: Data(xml.utf8))
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    switch kind {
    case .sqlite:
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: options)
    case .bruteForce: try coordinator.addPersistentStore(BruteForceStore(model: model))
    case .server:
      try coordinator.addPersistentStore(
        ofType: NSPostgreSQLStoreType, configurationName: nil, at: try ServerStores.newAddress(), options: options)
    }
  }

  /// Another coordinator over the same store.
  func newCoordinator() throws -> NSPersistentStoreCoordinator {
    let other = NSPersistentStoreCoordinator(managedObjectModel: model)
    let type = kind == .server ? NSPostgreSQLStoreType : NSSQLiteStoreType
    let place = kind == .server ? coordinator.persistentStores.first?.url : file
    try other.addPersistentStore(ofType: type, configurationName: nil, at: place)
    return other
  }

  func context(_ parent: NSManagedObjectContext? = nil) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    if let parent { context.parent = parent } else { context.persistentStoreCoordinator = coordinator }
    return context
  }

  /// A new object with a number.
  @discardableResult
  static func make(_ entity: String, _ number: Int, in context: NSManagedObjectContext) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    object.setValue(number, forKey: "number")
    return object
  }

  /// Another context changes the node and changes it back, in two saves: its version is a later one then.
  func renewVersion(ofNode number: Int) throws {
    let other = context()
    try other.performAndWait {
      for (old, new) in [(number, 1000), (1000, number)] {
        try Self.find("Node", old, in: other).setValue(new, forKey: "number")
        try other.save()
      }
    }
  }

  static func find(_ entity: String, _ number: Int, in context: NSManagedObjectContext) throws -> NSManagedObject {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = NSPredicate(format: "number == %d", number)
    let found = try context.fetch(request)
    try #require(found.count == 1, "\(entity) \(number)")
    return found[0]
  }

  /// The numbers of the objects at the other end, in order if it has one.
  static func numbers(_ object: NSManagedObject, _ key: String) -> [Int] {
    func number(_ object: Any?) -> Int? { (object as? NSManagedObject)?.value(forKey: "number") as? Int }
    switch object.value(forKey: key) {
    case let set as NSOrderedSet: return set.array.compactMap(number)
    case let set as NSSet: return set.allObjects.compactMap(number).sorted()
    case let object?: return [number(object)].compactMap(\.self)
    case nil: return []
    }
  }
}
