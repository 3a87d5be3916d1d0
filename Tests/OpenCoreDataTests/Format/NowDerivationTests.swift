import Foundation
import TestSupport
import Testing

@testable import OpenCoreData

// Rule (docs/coredata-format.md, "Derived attributes"): a derivation by `now()` has a trigger on updates of Z_OPT that calls a
// function of Apple's framework.

@Suite("A store whose triggers set the time of an update is written to")
struct NowDerivationTests {
  private static let xml = """
    <model><entity name="Wave">
      <attribute name="changed" optional="YES" derived="YES" derivationExpression="now()" attributeType="Date"/>
      <attribute name="height" optional="YES" attributeType="Double"/>
    </entity></model>
    """
  private static func trigger(_ function: String) -> String {
    """
    CREATE TRIGGER Z_DA_ZWAVE_Wave_changed_UPDATE AFTER UPDATE OF Z_OPT ON ZWAVE FOR EACH ROW BEGIN
      UPDATE ZWAVE SET ZCHANGED = \(function)() WHERE Z_PK = NEW.Z_PK;
      SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZWAVE', Z_ENT, Z_PK, 'changed', ZCHANGED) FROM ZWAVE
        WHERE Z_PK = NEW.Z_PK; END
    """
  }

  private let folder: TemporaryFolder
  private let model: NSManagedObjectModel
  private var file: URL { folder.file("Waves.sqlite") }

  init() throws {
    folder = try TemporaryFolder()
    model = try .load(xml: Data(Self.xml.utf8))
  }

  private func context() throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: [OCDIncompleteSchemaOption: true])
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test("Each update has its time; an object shows it once it is refreshed")
  func update() throws {
    _ = try context()
    try sqlite(file, Self.trigger("NSCoreDataNow"))
    let context = try context()
    try context.performAndWait {
      let wave = NSEntityDescription.insertNewObject(forEntityName: "Wave", into: context)
      try context.save()
      var last = Date().addingTimeInterval(-0.001)
      for height in 1...3 {
        wave.setValue(Double(height), forKey: "height")
        try context.save()
        context.refresh(wave, mergeChanges: false)
        let changed = try #require(wave.value(forKey: "changed") as? Date)
        #expect(changed >= last && changed <= Date().addingTimeInterval(0.001))
        last = changed
      }
    }
  }

  @Test("A function that is not known keeps the store from being written to")
  func unknown() throws {
    _ = try context()
    try sqlite(file, Self.trigger("NSCoreDataLater"))
    let error = #expect(throws: NSError.self) { try context() }
    #expect(error?.localizedDescription.contains("NSCoreDataLater") == true)
  }
}
