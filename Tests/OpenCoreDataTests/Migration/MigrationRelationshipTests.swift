import Foundation
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (Apple documentation: "Lightweight Migration"): relationships may be added, removed and renamed, change between
// ordered and unordered, and from to-one to to-many. Columns and join tables: docs/coredata-format.md, "Relationships",
// "Join tables".

@Suite("Relationships go along with a lightweight migration")
struct MigrationRelationshipTests {
  private static func entity(_ name: String, _ inside: String, attributes: String = "") -> String {
    "<entity name=\"\(name)\" \(attributes)>\(inside)</entity>"
  }
  private static func link(
    _ name: String, to destination: String, inverse: String?, many: Bool = false, attributes: String = ""
  ) -> String {
    let end = inverse.map { "inverseName=\"\($0)\" inverseEntity=\"\(destination)\"" } ?? ""
    return "<relationship name=\"\(name)\" optional=\"YES\" \(many ? "toMany=\"YES\"" : "maxCount=\"1\"") "
      + "destinationEntity=\"\(destination)\" \(end) \(attributes)/>"
  }

  /// Board ← Fish (1, 2) and Rider (3): a rider has boards, a board one rider.
  private static func riders(_ ofRider: String, _ ofBoard: String, extra: String = "") -> String {
    extra + entity("Board", ofBoard) + entity("Fish", "", attributes: "parentEntity=\"Board\"")
      + entity("Rider", ofRider)
  }
  private static let oneToMany = riders(
    link("boards", to: "Board", inverse: "rider", many: true), link("rider", to: "Rider", inverse: "boards"))
  private static let oneToManyRows = """
    INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT, ZRIDER) VALUES(1, 1, 1, 5), (2, 2, 1, 5), (3, 1, 1, NULL), (4, 2, 1, 6);
    INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT) VALUES(5, 3, 1), (6, 3, 1);
    """
  private static let manyToMany = riders(
    link("boards", to: "Board", inverse: "riders", many: true),
    link("riders", to: "Rider", inverse: "boards", many: true))
  /// Z_1RIDERS: a board's number, a rider's number.
  private static let manyToManyRows = """
    INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT) VALUES(1, 1, 1), (2, 2, 1), (3, 1, 1);
    INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT) VALUES(5, 3, 1), (6, 3, 1);
    INSERT INTO Z_1RIDERS(Z_1BOARDS, Z_3RIDERS) VALUES(1, 5), (2, 5), (2, 6);
    """
  private static let alga = entity("Alga", "")
  /// A board leads to any board: ZNEXT and Z1_NEXT, the number of its entity.
  private static let chain = riders("", link("next", to: "Board", inverse: nil))
  private static let chainRows = """
    INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT, ZNEXT, Z1_NEXT) VALUES(1, 1, 1, 2, 2), (2, 2, 1, 1, 1), (3, 1, 1, NULL, NULL);
    """

  static let cases = [
    MigrationCase(
      id: "a kept key is kept", old: oneToMany,
      new: riders(
        link("boards", to: "Board", inverse: "rider", many: true), link("rider", to: "Rider", inverse: "boards"),
        extra: alga),
      rows: oneToManyRows, query: "SELECT Z_PK, Z_ENT, ZRIDER FROM ZBOARD ORDER BY Z_PK",
      expected: "1|2|5\n2|3|5\n3|2|\n4|3|6"),
    MigrationCase(
      id: "a renamed key is kept", old: oneToMany,
      new: riders(
        link("boards", to: "Board", inverse: "owner", many: true),
        link("owner", to: "Rider", inverse: "boards", attributes: "elementID=\"rider\"")),
      rows: oneToManyRows, query: "SELECT Z_PK, ZOWNER FROM ZBOARD ORDER BY Z_PK", expected: "1|5\n2|5\n3|\n4|6"),
    MigrationCase(
      id: "a new inverse of a kept to-many relationship has its keys", old: oneToMany,
      new: riders(
        link("boards", to: "Board", inverse: "owner", many: true), link("owner", to: "Rider", inverse: "boards")),
      rows: oneToManyRows, query: "SELECT Z_PK, ZOWNER FROM ZBOARD ORDER BY Z_PK", expected: "1|5\n2|5\n3|\n4|6"),
    MigrationCase(
      id: "an added key leads nowhere, a removed one is gone", old: oneToMany,
      new: riders(link("gear", to: "Board", inverse: "user", many: true), link("user", to: "Rider", inverse: "gear")),
      rows: oneToManyRows, query: "SELECT * FROM ZBOARD", expected: "1|1|1|\n2|2|1|\n3|1|1|\n4|2|1|"),
    MigrationCase(
      id: "the number of the entity that a key leads to is renumbered", old: chain,
      new: riders("", link("next", to: "Board", inverse: nil), extra: alga), rows: chainRows,
      query: "SELECT Z_PK, ZNEXT, Z2_NEXT FROM ZBOARD ORDER BY Z_PK", expected: "1|2|3\n2|1|2\n3||"),
    MigrationCase(
      id: "the number appears once the destination has a subentity",
      old: entity("Board", link("next", to: "Board", inverse: nil)), new: chain,
      rows: "INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT, ZNEXT) VALUES(1, 1, 1, 2), (2, 1, 1, NULL)",
      query: "SELECT Z_PK, ZNEXT, Z1_NEXT FROM ZBOARD ORDER BY Z_PK", expected: "1|2|1\n2||"),
    MigrationCase(
      id: "a key to an object of a removed entity leads nowhere", old: chain,
      new: entity("Board", link("next", to: "Board", inverse: nil)) + entity("Rider", ""), rows: chainRows,
      query: "SELECT Z_PK, ZNEXT FROM ZBOARD ORDER BY Z_PK", expected: "1|\n3|"),
    MigrationCase(
      id: "a new to-one inverse of a kept to-one relationship leads back, the entity's number included", old: chain,
      new: riders("", link("next", to: "Board", inverse: "prior") + link("prior", to: "Board", inverse: "next")),
      rows: chainRows, query: "SELECT Z_PK, ZNEXT, ZPRIOR, Z1_PRIOR FROM ZBOARD ORDER BY Z_PK",
      expected: "1|2|2|2\n2|1|1|1\n3|||"),
    MigrationCase(
      id: "a new to-one inverse does not lead to an object of a removed entity", old: chain,
      new: entity("Board", link("next", to: "Board", inverse: "prior") + link("prior", to: "Board", inverse: "next")),
      rows: chainRows, query: "SELECT Z_PK, ZNEXT, ZPRIOR FROM ZBOARD ORDER BY Z_PK", expected: "1||\n3||"),
    MigrationCase(
      id: "a join table is renumbered", old: manyToMany,
      new: riders(
        link("boards", to: "Board", inverse: "riders", many: true),
        link("riders", to: "Rider", inverse: "boards", many: true), extra: alga),
      rows: manyToManyRows, query: "SELECT Z_2BOARDS, Z_4RIDERS FROM Z_2RIDERS", expected: "1|5\n2|5\n2|6"),
    MigrationCase(
      id: "a join table is renamed with either relationship", old: manyToMany,
      new: riders(
        link("gear", to: "Board", inverse: "users", many: true, attributes: "elementID=\"boards\""),
        link("users", to: "Rider", inverse: "gear", many: true, attributes: "elementID=\"riders\"")),
      rows: manyToManyRows, query: "SELECT Z_1GEAR, Z_3USERS FROM Z_1USERS", expected: "1|5\n2|5\n2|6"),
    MigrationCase(
      id: "the side with subentities names the join table once its entity comes second", old: manyToMany,
      new: entity("Ant", link("boards", to: "Board", inverse: "riders", many: true), attributes: "elementID=\"Rider\"")
        + entity("Board", link("riders", to: "Ant", inverse: "boards", many: true))
        + entity("Fish", "", attributes: "parentEntity=\"Board\""),
      rows: manyToManyRows, query: "SELECT Z_2BOARDS, Z_1RIDERS FROM Z_2RIDERS ORDER BY 1, 2",
      expected: "1|5\n2|5\n2|6"),
    MigrationCase(
      id: "links of a removed entity's objects are gone", old: manyToMany,
      new: entity("Board", link("riders", to: "Rider", inverse: "boards", many: true))
        + entity("Rider", link("boards", to: "Board", inverse: "riders", many: true)),
      rows: manyToManyRows, query: "SELECT Z_1BOARDS, Z_2RIDERS FROM Z_1RIDERS", expected: "1|5"),
    MigrationCase(
      id: "a relationship moves down with the links of its objects", old: manyToMany,
      new: entity("Board", "")
        + entity(
          "Fish", link("riders", to: "Rider", inverse: "quiver", many: true), attributes: "parentEntity=\"Board\"")
        + entity("Rider", link("quiver", to: "Fish", inverse: "riders", many: true)),
      rows: manyToManyRows, query: "SELECT Z_2QUIVER, Z_3RIDERS FROM Z_2RIDERS", expected: "2|5\n2|6"),
    MigrationCase(
      id: "a key becomes pairs", old: oneToMany, new: manyToMany.replacingOccurrences(of: "riders", with: "rider"),
      rows: oneToManyRows, query: "SELECT Z_1BOARDS, Z_3RIDER FROM Z_1RIDER", expected: "1|5\n2|5\n4|6"),
    MigrationCase(
      id: "a to-many relationship is ordered from now on", old: oneToMany,
      new: riders(
        link("boards", to: "Board", inverse: "rider", many: true, attributes: "ordered=\"YES\""),
        link("rider", to: "Rider", inverse: "boards")),
      rows: oneToManyRows, query: "SELECT Z_PK, ZRIDER, Z_FOK_RIDER FROM ZBOARD ORDER BY Z_PK",
      expected: "1|5|1\n2|5|2\n3||\n4|6|4"),
    MigrationCase(
      id: "an order is kept",
      old: riders(
        link("boards", to: "Board", inverse: "rider", many: true, attributes: "ordered=\"YES\""),
        link("rider", to: "Rider", inverse: "boards")),
      new: riders(
        link("boards", to: "Board", inverse: "rider", many: true, attributes: "ordered=\"YES\""),
        link("rider", to: "Rider", inverse: "boards"), extra: alga),
      rows: oneToManyRows + "UPDATE ZBOARD SET Z_FOK_RIDER = 100 - Z_PK WHERE ZRIDER IS NOT NULL;",
      query: "SELECT Z_PK, Z_FOK_RIDER FROM ZBOARD ORDER BY Z_PK", expected: "1|99\n2|98\n3|\n4|96"),
    MigrationCase(
      id: "pairs are ordered from now on, and the other side's order is gone",
      old: riders(
        link("boards", to: "Board", inverse: "riders", many: true),
        link("riders", to: "Rider", inverse: "boards", many: true, attributes: "ordered=\"YES\"")),
      new: riders(
        link("boards", to: "Board", inverse: "riders", many: true, attributes: "ordered=\"YES\""),
        link("riders", to: "Rider", inverse: "boards", many: true)),
      rows: manyToManyRows + "UPDATE Z_1RIDERS SET Z_FOK_3RIDERS = 40 + Z_1BOARDS;",
      query: "SELECT * FROM Z_1RIDERS", expected: "1|5|1\n2|5|2\n2|6|2"),
    MigrationCase(
      id: "a relationship that is its own inverse keeps its pairs",
      old: entity("Rider", link("friends", to: "Rider", inverse: "friends", many: true)),
      new: alga
        + entity("Rider", link("mates", to: "Rider", inverse: "mates", many: true, attributes: "elementID=\"friends\"")),
      rows: """
        INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT) VALUES(1, 1, 1), (2, 1, 1);
        INSERT INTO Z_1FRIENDS(Z_1FRIENDS, REFLEXIVE) VALUES(1, 2), (2, 1);
        """, query: "SELECT Z_2MATES, REFLEXIVE FROM Z_2MATES", expected: "1|2\n2|1"),
    MigrationCase(
      id: "the hidden key of a to-many relationship without an inverse is kept",
      old: entity("Board", "") + entity("Rider", link("boards", to: "Board", inverse: nil, many: true)),
      new: alga + entity("Board", "") + entity("Rider", link("boards", to: "Board", inverse: nil, many: true)),
      rows: """
        INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT, Z2BOARDS) VALUES(1, 1, 1, 5), (2, 1, 1, NULL);
        INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT) VALUES(5, 2, 1);
        """, query: "SELECT Z_PK, Z3BOARDS FROM ZBOARD ORDER BY Z_PK", expected: "1|5\n2|"),
    MigrationCase(
      id: "a hidden key becomes that of an inverse",
      old: entity("Board", "") + entity("Rider", link("boards", to: "Board", inverse: nil, many: true)),
      new: entity("Board", link("rider", to: "Rider", inverse: "boards"))
        + entity("Rider", link("boards", to: "Board", inverse: "rider", many: true)),
      rows: """
        INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT, Z2BOARDS) VALUES(1, 1, 1, 5), (2, 1, 1, NULL);
        INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT) VALUES(5, 2, 1);
        """, query: "SELECT Z_PK, ZRIDER FROM ZBOARD ORDER BY Z_PK", expected: "1|5\n2|"),
    MigrationCase(
      id: "a relationship moves up with its links",
      old:
        entity("Board", "")
        + entity(
          "Fish", link("riders", to: "Rider", inverse: "boards", many: true), attributes: "parentEntity=\"Board\"")
        + entity("Rider", link("boards", to: "Fish", inverse: "riders", many: true)),
      new: manyToMany,
      rows: """
        INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT) VALUES(1, 1, 1), (2, 2, 1);
        INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT) VALUES(5, 3, 1);
        INSERT INTO Z_2RIDERS(Z_2BOARDS, Z_3RIDERS) VALUES(2, 5);
        """, query: "SELECT Z_1BOARDS, Z_3RIDERS FROM Z_1RIDERS", expected: "2|5"),
  ]

  @Test("a relationship's change", arguments: cases)
  func relationships(case: MigrationCase) throws { #expect(try `case`.found() == `case`.expected) }
}
