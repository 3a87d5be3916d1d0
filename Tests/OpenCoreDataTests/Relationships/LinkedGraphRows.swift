import Foundation
@testable import OpenCoreData
import TestSupport
import Testing

extension LinkedGraph {
  /// The database is not damaged.
  func expectIntegrity() throws {
    if kind == .sqlite { #expect(try sqlite(file, "PRAGMA integrity_check") == "ok") }
  }

  /// How the rows, read by the `sqlite3` shell, differ from what the store is to have; nil if they do not.
  ///
  /// - Parameter unordered: The lists whose order is not compared, as `items 3`.
  func rowDifference(from reference: GraphReference, unordered: Set<String> = []) throws -> String? {
    if kind != .sqlite { return try stateDifference(from: reference, unordered: unordered) }
    var lines: [String] = []
    for (number, kind) in reference.kinds {
      for key in ["partner", "parent", "note", "box", "tags", "friends"] where GraphReference.keys(kind).contains(key) {
        lines += reference.related(number, key).map { "\(key) \(number) \($0)" }
      }
      for key in ["items", "ranked"] where GraphReference.keys(kind).contains(key) {
        let list = reference.related(number, key)
        if !list.isEmpty { lines.append("\(key) \(number) \(list.map(String.init).joined(separator: ","))") }
      }
    }
    func sorted(_ line: String) -> String {
      let parts = line.split(separator: " ").map(String.init)
      guard parts.count == 3, unordered.contains("\(parts[0]) \(parts[1])") else { return line }
      return "\(parts[0]) \(parts[1]) \(parts[2].split(separator: ",").sorted().joined(separator: ","))"
    }
    let expected = lines.map(sorted).sorted()
    let found = try sqlite(file, Self.rowQuery).split(separator: "\n").map { sorted(String($0)) }.sorted()
    if found == expected { return nil }
    return "rows differ: \(Set(found).symmetricDifference(expected).sorted())"
  }

  /// The same for a store without SQL, read by a new context.
  private func stateDifference(from reference: GraphReference, unordered: Set<String>) throws -> String? {
    let context = context()
    return try context.performAndWait {
      for (number, kind) in reference.kinds.sorted(by: { $0.key < $1.key }) {
        let object = try Self.find(kind.rawValue, number, in: context)
        for key in GraphReference.keys(kind) {
          var (found, expected) = (Self.numbers(object, key), reference.related(number, key))
          if unordered.contains("\(key) \(number)") { (found, expected) = (found.sorted(), expected.sorted()) }
          if found != expected { return "the store has \(found) as \(key) of \(number), expected \(expected)" }
        }
      }
      return nil
    }
  }

  // Numbers: Box 1, Node 2, Leaf 3, Tag 4.
  private static let rowQuery = """
    SELECT 'partner ' || a.ZNUMBER || ' ' || b.ZNUMBER FROM ZNODE a JOIN ZNODE b
      ON b.Z_PK = a.ZPARTNER AND b.Z_ENT = a.Z2_PARTNER;
    SELECT 'parent ' || a.ZNUMBER || ' ' || b.ZNUMBER FROM ZNODE a JOIN ZNODE b
      ON b.Z_PK = a.ZPARENT AND b.Z_ENT = a.Z2_PARENT;
    SELECT 'note ' || a.ZNUMBER || ' ' || b.ZNUMBER FROM ZNODE a JOIN ZTAG b ON b.Z_PK = a.ZNOTE;
    SELECT 'box ' || a.ZNUMBER || ' ' || b.ZNUMBER FROM ZNODE a JOIN ZBOX b ON b.Z_PK = a.ZBOX;
    SELECT 'tags ' || a.ZNUMBER || ' ' || b.ZNUMBER FROM Z_2TAGS j JOIN ZNODE a ON a.Z_PK = j.Z_2NODES
      JOIN ZTAG b ON b.Z_PK = j.Z_4TAGS;
    SELECT 'friends ' || a.ZNUMBER || ' ' || b.ZNUMBER FROM Z_2FRIENDS j JOIN ZNODE a ON a.Z_PK = j.Z_2FRIENDS
      JOIN ZNODE b ON b.Z_PK = j.REFLEXIVE;
    SELECT 'items ' || ZNUMBER || ' ' || (SELECT group_concat(n) FROM
      (SELECT a.ZNUMBER n FROM ZNODE a WHERE a.ZBOX = b.Z_PK ORDER BY a.Z_FOK_BOX))
      FROM ZBOX b WHERE EXISTS (SELECT 1 FROM ZNODE a WHERE a.ZBOX = b.Z_PK);
    SELECT 'ranked ' || ZNUMBER || ' ' || (SELECT group_concat(n) FROM (SELECT a.ZNUMBER n FROM Z_2RANKINGS j
      JOIN ZNODE a ON a.Z_PK = j.Z_2RANKED WHERE j.Z_4RANKINGS = b.Z_PK ORDER BY j.Z_FOK_2RANKED))
      FROM ZTAG b WHERE EXISTS (SELECT 1 FROM Z_2RANKINGS j WHERE j.Z_4RANKINGS = b.Z_PK);
    """
}
