import Foundation
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules: what can't be inferred is refused with 134140, and 134190 beneath it, with the reason for each entity and
// property (CoreDataErrors.h; Apple documentation: NSMappingModel.inferredMappingModel); data that does not fit is refused
// with 134110; whatever the reason, the store stays as it was.

@Suite("A migration that can't be done right is refused, and changes nothing")
struct MigrationRefusalTests {
  struct Refusal: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var old = Changed.session(Changed.place + Changed.rating)
    let new: String
    var rows = Changed.rows
    var code = NSMigrationMissingMappingModelError
    let words: [String]
  }

  private static func attribute(_ name: String, _ attributes: String) -> String {
    "<attribute name=\"\(name)\" \(attributes)/>"
  }
  private static func link(_ name: String, to: String, inverse: String, attributes: String) -> String {
    "<relationship name=\"\(name)\" destinationEntity=\"\(to)\" inverseName=\"\(inverse)\" inverseEntity=\"\(to)\" "
      + "\(attributes)/>"
  }
  private static func pair(_ one: String, _ other: String) -> String {
    "<entity name=\"Board\">\(one)</entity><entity name=\"Rider\">\(other)</entity>"
  }
  private static let many = "toMany=\"YES\" optional=\"YES\""
  private static let one = "maxCount=\"1\" optional=\"YES\""
  private static let unique =
    "<uniquenessConstraints><uniquenessConstraint><constraint value=\"place\"/>"
    + "</uniquenessConstraint></uniquenessConstraints>"

  static let inferences = [
    Refusal(
      testDescription: "an added mandatory attribute without a default value",
      new: Changed.session(Changed.place + Changed.rating + attribute("wind", "attributeType=\"Double\"")),
      words: ["Session.wind", "mandatory", "default value"]),
    Refusal(
      testDescription: "mandatory from now on, without a default value",
      new: Changed.session(Changed.rating + attribute("place", "attributeType=\"String\"")),
      words: ["Session.place", "was optional"]),
    Refusal(
      testDescription: "another type",
      new: Changed.session(Changed.place + attribute("rating", "optional=\"YES\" attributeType=\"Integer 32\"")),
      words: ["Session.rating", "integer16", "integer32", "not converted"]),
    Refusal(
      testDescription: "every reason at once",
      new: Changed.session(
        attribute("place", "attributeType=\"String\"") + attribute("rating", "attributeType=\"Date\" optional=\"YES\"")),
      words: ["Session.place", "Session.rating"]),
    Refusal(
      testDescription: "an attribute that becomes a relationship",
      new: Changed.session(Changed.rating + link("place", to: "Session", inverse: "place", attributes: one)),
      words: ["Session.place", "was an attribute"]),
    Refusal(
      testDescription: "two attributes out of one",
      new: Changed.session(
        attribute("a", "optional=\"YES\" attributeType=\"String\" elementID=\"place\"")
          + attribute("b", "optional=\"YES\" attributeType=\"String\" elementID=\"place\"")),
      words: ["Session.b", "'a'", "renaming identifier"]),
    Refusal(
      testDescription: "two entities out of one",
      new: "<entity name=\"A\" elementID=\"Session\"/><entity name=\"B\" elementID=\"Session\"/>",
      words: ["B: ", "'A'", "renaming identifier"]),
    Refusal(
      testDescription: "data moves into files",
      old: Changed.session(attribute("photo", "optional=\"YES\" attributeType=\"Binary\"")),
      new: Changed.session(
        attribute("photo", "optional=\"YES\" attributeType=\"Binary\" allowsExternalBinaryDataStorage=\"YES\"")),
      rows: "", words: ["Session.photo", "files of their own"]),
    Refusal(
      testDescription: "two hierarchies become one",
      old: "<entity name=\"Board\"/><entity name=\"Rider\"/>",
      new: "<entity name=\"Thing\"/><entity name=\"Board\" parentEntity=\"Thing\"/>"
        + "<entity name=\"Rider\" parentEntity=\"Thing\"/>", rows: "", words: ["Rider", "Board", "can't be merged"]),
    Refusal(
      testDescription: "an added mandatory relationship", old: pair("", ""),
      new: pair(
        link("rider", to: "Rider", inverse: "boards", attributes: "maxCount=\"1\""),
        link("boards", to: "Board", inverse: "rider", attributes: many)),
      rows: "", words: ["Board.rider", "mandatory"]),
    Refusal(
      testDescription: "to-many becomes to-one",
      old: pair(
        link("riders", to: "Rider", inverse: "boards", attributes: many),
        link("boards", to: "Board", inverse: "riders", attributes: many)),
      new: pair(
        link("riders", to: "Rider", inverse: "boards", attributes: one),
        link("boards", to: "Board", inverse: "riders", attributes: many)),
      rows: "", words: ["Board.riders", "to-many"]),
    Refusal(
      testDescription: "to-one becomes to-many, and its new inverse is to-one",
      old: pair("<relationship name=\"rider\" destinationEntity=\"Rider\" \(one)/>", ""),
      new: pair(
        link("riders", to: "Rider", inverse: "board", attributes: many + " elementID=\"rider\""),
        link("board", to: "Board", inverse: "riders", attributes: one)),
      rows: "", words: ["Rider.board", "'riders'", "Make it to-many"]),
    Refusal(
      testDescription: "another destination",
      old: pair(
        link("mate", to: "Rider", inverse: "mate", attributes: one),
        link("mate", to: "Board", inverse: "mate", attributes: one)),
      new: pair(
        link("mate", to: "Board", inverse: "mate", attributes: one),
        link("mate", to: "Rider", inverse: "mate", attributes: one)),
      rows: "", words: ["Board.mate", "Rider.mate", "Keep the destination"]),
  ]

  static let data = [
    Refusal(
      testDescription: "equal values under a new constraint",
      new: Changed.session(Changed.place + Changed.rating + unique),
      rows: Changed.rows + "UPDATE ZSESSION SET ZPLACE = 'Pipe'", code: NSMigrationError,
      words: ["ZSESSION.ZPLACE", "uniqueness constraint"]),
    Refusal(
      testDescription: "objects of an entity that is abstract from now on",
      new: Changed.session(Changed.place + Changed.rating, "isAbstract=\"YES\""), code: NSMigrationError,
      words: ["abstract", "3 objects"]),
    Refusal(
      testDescription: "a mandatory relationship that leads nowhere",
      old: pair(
        link("rider", to: "Rider", inverse: "boards", attributes: one),
        link("boards", to: "Board", inverse: "rider", attributes: many)),
      new: pair(
        link("rider", to: "Rider", inverse: "boards", attributes: "maxCount=\"1\""),
        link("boards", to: "Board", inverse: "rider", attributes: many)),
      rows: "INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT, ZRIDER) VALUES(1, 1, 1, NULL), (2, 1, 1, 1)",
      code: NSMigrationError, words: ["Board.rider", "1 objects"]),
    Refusal(
      testDescription: "a mandatory relationship to objects that go with their entity",
      old: "<entity name=\"Fish\" parentEntity=\"Rider\"/>"
        + pair(
          link("rider", to: "Rider", inverse: "boards", attributes: "maxCount=\"1\""),
          link("boards", to: "Board", inverse: "rider", attributes: many)),
      new: pair(
        link("rider", to: "Rider", inverse: "boards", attributes: "maxCount=\"1\""),
        link("boards", to: "Board", inverse: "rider", attributes: many)),
      rows: "INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT) VALUES(1, 3, 1);"
        + "INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT, ZRIDER, Z2_RIDER) VALUES(1, 1, 1, 1, 3)",
      code: NSMigrationError, words: ["Board.rider", "1 objects"]),
    Refusal(
      testDescription: "an index of others on a column that goes", new: Changed.session(Changed.place),
      rows: "CREATE INDEX SJ_BYRATING ON ZSESSION(ZRATING)", code: NSMigrationError,
      words: ["SJ_BYRATING", "Drop the index"]),
    Refusal(
      testDescription: "rows of no entity", new: Changed.session(Changed.place),
      rows: Changed.rows + "UPDATE ZSESSION SET Z_ENT = 7 WHERE Z_PK = 2", code: NSMigrationError,
      words: ["1 rows", "ZSESSION"]),
    Refusal(
      testDescription: "a new to-one inverse that would have to lead to several objects",
      old: pair("<relationship name=\"rider\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"Rider\"/>", ""),
      new: pair(
        link("rider", to: "Rider", inverse: "board", attributes: one),
        link("board", to: "Board", inverse: "rider", attributes: one)),
      rows: "INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT) VALUES(1, 2, 1), (2, 2, 1);"
        + "INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT, ZRIDER) VALUES(1, 1, 1, 1), (2, 1, 1, 1), (3, 1, 1, 2)",
      code: NSMigrationError, words: ["Rider.board", "1 objects", "Make it to-many"]),
    Refusal(
      testDescription: "a trigger", new: Changed.session(Changed.place),
      rows: "CREATE TRIGGER note AFTER INSERT ON ZSESSION BEGIN SELECT 1; END", code: NSMigrationError,
      words: ["trigger note"]),
    Refusal(
      testDescription: "a column that is missing", new: Changed.session(Changed.place),
      rows: "ALTER TABLE ZSESSION DROP COLUMN ZRATING", code: NSMigrationError, words: ["ZSESSION", "ZRATING"]),
    Refusal(
      testDescription: "a table in the way", new: Changed.session(Changed.place) + "<entity name=\"Board\"/>",
      rows: "CREATE TABLE ZBOARD(x)", code: NSMigrationError, words: ["ZBOARD", "already exists"]),
  ]

  @Test("refused", arguments: inferences + data)
  func refused(refusal: Refusal) throws {
    let bench = try MigrationBench(old: refusal.old, rows: refusal.rows)
    let before = try bench.dump()
    let model = try migrationModel(refusal.new)
    let error = #expect(throws: NSError.self) { try bench.migrate(to: model) }
    #expect(error?.code == refusal.code && error?.domain == NSCocoaErrorDomain)
    for word in refusal.words { #expect(error?.localizedDescription.contains(word) == true, "\(word): \(error!)") }
    #expect(try bench.dump() == before)
    guard refusal.code == NSMigrationMissingMappingModelError else { return }
    let inferred = #expect(throws: NSError.self) {
      try NSMappingModel.inferredMappingModel(forSourceModel: bench.old, destinationModel: model)
    }
    #expect(inferred?.code == NSInferredMappingModelError)
    #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == NSInferredMappingModelError)
    #expect((inferred?.userInfo[NSDetailedErrorsKey] as? [NSError])?.isEmpty == false)
  }

  @Test("Options decide: none 134100, no inference 134140, no source model 134130, reading only 134110")
  func options() throws {
    let bench = try MigrationBench(old: Changed.session(Changed.place + Changed.rating), rows: Changed.rows)
    let before = try bench.dump()
    let model = try migrationModel(Changed.session(Changed.place))
    let on: [AnyHashable: Any] = [NSMigratePersistentStoresAutomaticallyOption: true]
    let infer: [AnyHashable: Any] = [NSInferMappingModelAutomaticallyOption: true]
    let both = on.merging(infer) { $1 }
    let given: [AnyHashable: Any] = [OCDSourceModelsOption: [bench.old]]
    let cases: [([AnyHashable: Any], Int, String)] = [
      ([:], 134100, "Session"), (infer, 134100, "Session"), (on.merging(given) { $1 }, 134140, "no mapping model"),
      (both, 134130, "Keep that version"),
      (both.merging(given) { $1 }.merging([NSReadOnlyPersistentStoreOption: true]) { $1 }, 134110, "reading only"),
    ]
    for (options, code, word) in cases {
      let error = #expect(throws: NSError.self) { try MigrationBench.add(bench.file, model: model, options: options) }
      #expect(error?.code == code)
      #expect(error?.localizedDescription.contains(word) == true, "\(error!)")
      let suggested = [134140: "NSInferMapping", 134130: "OCDSourceModelsOption"][code]
      if let suggested { #expect(error?.localizedRecoverySuggestion?.contains(suggested) == true, "\(error!)") }
      #expect(try bench.dump() == before)
    }
  }
}
