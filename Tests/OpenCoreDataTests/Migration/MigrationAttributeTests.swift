import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (Apple documentation: Core Data Model Versioning and Data Migration, "Lightweight Migration";
// NSPropertyDescription renamingIdentifier): attributes may be added, removed and renamed by renaming identifier;
// optional becomes mandatory where there is a default value, and the other way round; values are kept. Layout:
// docs/coredata-format.md, "Values".

@Suite("Attributes go along with a lightweight migration")
struct MigrationAttributeTests {
  private static func made(
    _ id: String, new: String, query: String, expected: String,
    old: String = Changed.session(Changed.place + Changed.rating), rows: String = Changed.rows
  ) -> MigrationCase {
    MigrationCase(id: id, old: old, new: new, rows: rows, query: query, expected: expected)
  }

  private static func rating(_ attributes: String) -> String {
    Changed.session(Changed.place + "<attribute name=\"rating\" attributeType=\"Integer 16\" \(attributes)/>")
  }

  static let cases = [
    made(
      "nothing of the rows is lost when an attribute is added",
      new: Changed.session(
        Changed.place + Changed.rating + "<attribute name=\"wind\" optional=\"YES\" attributeType=\"Double\"/>"),
      query: "SELECT Z_PK, Z_ENT, Z_OPT, ZPLACE, ZRATING, ZWIND FROM ZSESSION; SELECT Z_MAX FROM Z_PRIMARYKEY",
      expected: "1|1|1|Pipe|5|\n2|1|7|||\n9|1|3|Jaws|2|\n12"),
    made(
      "an added mandatory attribute has its default value",
      new: Changed.session(
        Changed.place + Changed.rating
          + "<attribute name=\"wind\" attributeType=\"Double\" defaultValueString=\"4.5\"/>"),
      query: "SELECT ZWIND, typeof(ZWIND) FROM ZSESSION", expected: "4.5|real\n4.5|real\n4.5|real"),
    made(
      "an added optional attribute has its default value too",
      new: Changed.session(
        Changed.place + Changed.rating
          + "<attribute name=\"kind\" optional=\"YES\" attributeType=\"String\" defaultValueString=\"it's\"/>"),
      query: "SELECT ZKIND FROM ZSESSION", expected: "it's\nit's\nit's"),
    made(
      "a removed attribute is gone", new: Changed.session(Changed.place), query: "SELECT * FROM ZSESSION",
      expected: "1|1|1|Pipe\n2|1|7|\n9|1|3|Jaws"),
    made(
      "a renamed attribute keeps its values",
      new: Changed.session(
        Changed.rating + "<attribute name=\"spot\" optional=\"YES\" attributeType=\"String\" elementID=\"place\"/>"),
      query: "SELECT Z_PK, ZSPOT FROM ZSESSION", expected: "1|Pipe\n2|\n9|Jaws"),
    made(
      "an identifier that the old version has too goes on",
      new: Changed.session("<attribute name=\"beach\" optional=\"YES\" attributeType=\"String\" elementID=\"id1\"/>"),
      query: "SELECT ZBEACH FROM ZSESSION ORDER BY Z_PK", expected: "Pipe\n\nJaws",
      old: Changed.session(
        "<attribute name=\"place\" optional=\"YES\" attributeType=\"String\" elementID=\"id1\"/>" + Changed.rating)),
    made(
      "an identifier set once stays while a new attribute takes the old name",
      new: Changed.session(
        "<attribute name=\"spot\" optional=\"YES\" attributeType=\"String\" elementID=\"place\"/>" + Changed.place
          + Changed.rating),
      query: "SELECT ZSPOT, ZPLACE FROM ZSESSION", expected: "Pipe|\n|\nJaws|",
      old: Changed.session(
        "<attribute name=\"spot\" optional=\"YES\" attributeType=\"String\" elementID=\"place\"/>" + Changed.rating),
      rows: Changed.rows.replacingOccurrences(of: "ZPLACE", with: "ZSPOT")),
    made(
      "two attributes swap their names",
      new: Changed.session(
        "<attribute name=\"b\" optional=\"YES\" attributeType=\"String\" elementID=\"a\"/>"
          + "<attribute name=\"a\" optional=\"YES\" attributeType=\"String\" elementID=\"b\"/>",
        // Renaming identifiers alone are not part of the version hash.
        "versionHashModifier=\"2\""),
      query: "SELECT ZA, ZB FROM ZSESSION", expected: "was b|was a",
      old: Changed.session(
        "<attribute name=\"a\" optional=\"YES\" attributeType=\"String\"/>"
          + "<attribute name=\"b\" optional=\"YES\" attributeType=\"String\"/>"),
      rows: "INSERT INTO ZSESSION(Z_PK, Z_ENT, Z_OPT, ZA, ZB) VALUES(1, 1, 1, 'was a', 'was b')"),
    made(
      "a mandatory attribute fills gaps with its default value, and nothing else",
      new: rating("defaultValueString=\"3\""), query: "SELECT ZRATING FROM ZSESSION", expected: "5\n3\n2"),
    made(
      "a mandatory attribute becomes optional", new: Changed.session(Changed.place + Changed.rating),
      query: "SELECT ZRATING FROM ZSESSION", expected: "5\n\n2", old: rating("")),
    made(
      "another default value leaves the values that are there",
      new: rating("optional=\"YES\" defaultValueString=\"4\" versionHashModifier=\"2\""),
      query: "SELECT ZRATING FROM ZSESSION", expected: "5\n\n2"),
    made(
      "a transient attribute becomes a stored one, with its default value",
      new: Changed.session(
        Changed.place + Changed.rating
          + "<attribute name=\"now\" optional=\"YES\" attributeType=\"String\" defaultValueString=\"x\"/>"),
      query: "SELECT ZNOW FROM ZSESSION", expected: "x\nx\nx",
      old: Changed.session(
        Changed.place + Changed.rating + "<attribute name=\"now\" transient=\"YES\" attributeType=\"String\"/>")),
    made(
      "names that clash in capitals keep their columns apart",
      new: Changed.session(
        "<attribute name=\"a\" optional=\"YES\" attributeType=\"String\"/>"
          + "<attribute name=\"A\" optional=\"YES\" attributeType=\"String\"/>"
          + "<attribute name=\"b\" optional=\"YES\" attributeType=\"String\"/>"),
      query: "SELECT ZA, ZA1, ZB FROM ZSESSION", expected: "|lower|b",
      old: Changed.session(
        "<attribute name=\"a\" optional=\"YES\" attributeType=\"String\"/>"
          + "<attribute name=\"b\" optional=\"YES\" attributeType=\"String\"/>"),
      rows: "INSERT INTO ZSESSION(Z_PK, Z_ENT, Z_OPT, ZA, ZB) VALUES(1, 1, 1, 'lower', 'b')"),
  ]

  @Test("an attribute's change", arguments: cases)
  func attributes(case: MigrationCase) throws { #expect(try `case`.found() == `case`.expected) }

  private static let types = [
    ("Integer 64", "9223372036854775807"), ("Double", "0.1"), ("Decimal", "12.5"), ("Boolean", "1"),
    ("Date", "700000000.25"), ("Date", "700000000"), ("String", "'日本 ''x'''"), ("URI", "'https://a.b/c?d'"),
    ("UUID", "x'000102030405060708090a0b0c0d0eff'"), ("Binary", "x'00ff'"), ("Transformable", "x'62706c697374'"),
  ]

  @Test("Values of every type arrive bit by bit")
  func everyType() throws {
    let attributes = Self.types.enumerated().map {
      "<attribute name=\"a\($0.offset)\" optional=\"YES\" attributeType=\"\($0.element.0)\"/>"
    }.joined()
    let columns = Self.types.indices.map { "ZA\($0)" }.joined(separator: ", ")
    let values = Self.types.map(\.1).joined(separator: ", ")
    let bench = try MigrationBench(
      old: Changed.session(attributes),
      rows: "INSERT INTO ZSESSION(Z_PK, Z_ENT, Z_OPT, \(columns)) VALUES(1, 1, 1, \(values))")
    let question =
      "SELECT " + Self.types.indices.map { "quote(ZA\($0)), typeof(ZA\($0))" }.joined(separator: ", ")
      + " FROM ZSESSION"
    let before = try sqlite(bench.file, question)
    let uuid = try bench.uuid()
    let model = try migrationModel(Changed.session(attributes + Changed.place))
    try bench.migrate(to: model)
    #expect(try sqlite(bench.file, question) == before)
    try bench.expectFresh(model, uuid: uuid)
  }

  @Test("Objects are fetched from a migrated store, and new ones go on with its keys")
  func throughContexts() throws {
    let bench = try MigrationBench(old: Changed.session(Changed.place + Changed.rating), rows: Changed.rows)
    let model = try migrationModel(
      Changed.session("<attribute name=\"spot\" optional=\"YES\" attributeType=\"String\" elementID=\"place\"/>"))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: bench.file,
      options: MigrationBench.options([bench.old]))
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
      request.predicate = NSPredicate(format: "spot == %@", "Jaws")
      let found = try context.fetch(request)
      #expect(found.map { $0.objectID.uriRepresentation().lastPathComponent } == ["p9"])
      let new = NSManagedObject.make(try #require(model.entitiesByName["Session"]), in: context)
      try context.save()
      #expect(new.objectID.uriRepresentation().lastPathComponent == "p13")
    }
  }
}
