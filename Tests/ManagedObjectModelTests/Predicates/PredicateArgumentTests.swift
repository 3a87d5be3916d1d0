import Foundation
import Testing

@testable import ManagedObjectModel

/// A value that cannot be compared.
private struct Board {}

@Suite("Predicate arguments: Swift and Foundation values become typed constants")
struct PredicateArgumentTests {
  private func constant(_ format: String, _ argument: Any?) throws -> PredicateConstant {
    let predicate = try NSPredicate.parse(format: "a == \(format)", arguments: [argument])
    guard case .comparison(let comparison) = try predicate.predicateNode(),
      case .constant(let constant) = comparison.right
    else { throw CocoaError(.formatting) }
    return constant
  }

  @Test("%@ takes any value by its type")
  func objects() throws {
    let date = Date(timeIntervalSinceReferenceDate: 42.5)
    let uuid = UUID()
    let url = try #require(URL(string: "http://example.org/a"))
    let missing: Int? = nil
    let nested: Int?? = .some(3)
    let cases: [(Any?, PredicateConstant)] = [
      (nil, .null), (NSNull(), .null), (missing, .null), (nested as Any, .integer(3)),
      (3, .integer(3)), (Int8(-3), .integer(-3)), (Int16(3), .integer(3)),
      (UInt32.max, .integer(4_294_967_295)),
      (UInt64.max, .decimal(Decimal(string: "18446744073709551615") ?? 0)),
      (2.5, .real(2.5)), (Float(0.5), .real(0.5)), (CGFloat(1.5), .real(1.5)), (true, .boolean(true)),
      (Decimal(7), .decimal(7)), ("pipe", .text("pipe")), ("pipe".dropFirst(), .text("ipe")),
      (Character("é"), .text("é")), (date, .date(date)), (uuid, .uuid(uuid)), (url, .url(url)),
      (Data([1]), .data(Data([1]))),
      (NSNumber(value: 3), .integer(3)), (NSNumber(value: 3.0), .real(3)),
      (NSNumber(value: true), .boolean(true)),
      (NSNumber(value: Int8(1)), .integer(1)),
      (NSDecimalNumber(string: "0.1"), .decimal(Decimal(string: "0.1") ?? 0)),
      (NSString(string: "é"), .text("é")), (NSDate(timeIntervalSinceReferenceDate: 42.5), .date(date)),
      (uuid as NSUUID, .uuid(uuid)), (url as NSURL, .url(url)), (NSData(data: Data([1])), .data(Data([1]))),
      ([1, 2], .collection([.integer(1), .integer(2)])), ([1, nil], .collection([.integer(1), .null])),
      (Set(["a"]), .collection([.text("a")])), (Set<AnyHashable>([1]), .collection([.integer(1)])),
      (1...3, .collection([.integer(1), .integer(2), .integer(3)])),
      ([3, 4][1...], .collection([.integer(4)])),
      (NSArray(array: [1, "a"]), .collection([.integer(1), .text("a")])),
      (NSSet(array: [true]), .collection([.boolean(true)])),
      (NSOrderedSet(array: [1, 2]), .collection([.integer(1), .integer(2)])),
    ]
    for (argument, expected) in cases {
      #expect(try constant("%@", argument) == expected, "\(String(describing: argument))")
    }
  }

  @Test("%@ keeps what can't be compared")
  func foreignValues() throws {
    for (argument, type) in [(Board(), "Board"), (["a": 1], "Dictionary<String, Int>")] as [(Any, String)] {
      guard case .unsupported(let foreign) = try constant("%@", argument) else {
        Issue.record("\(type) can be compared")
        continue
      }
      #expect(foreign.typeName == type)
    }
    let board = NSObject()
    #expect(try constant("%@", board) == constant("%@", board) && constant("%@", board) != constant("%@", NSObject()))
  }

  @Test(
    "number conversions of every length take numbers",
    arguments: ["%d", "%i", "%u", "%ld", "%lu", "%lld", "%qu", "%hd", "%hhd", "%zd", "%x", "%o"])
  func integers(_ conversion: String) throws {
    #expect(try constant(conversion, 3) == .integer(3))
    #expect(try constant(conversion, Int16(3)) == .integer(3))
    #expect(try constant(conversion, NSNumber(value: 3)) == .integer(3))
    #expect(try constant(conversion, 3.0) == .integer(3))
    #expect(try constant(conversion, true) == .boolean(true))
  }

  @Test(arguments: ["%f", "%lf", "%g", "%e", "%Lf".lowercased()])
  func reals(_ conversion: String) throws {
    #expect(try constant(conversion, 3) == .integer(3))
    #expect(try constant(conversion, 2.5) == .real(2.5))
    #expect(try constant(conversion, Float(2.5)) == .real(2.5))
  }

  @Test("%K takes a key path, also as a part of one and in reserved words' spelling")
  func keyPaths() {
    let cases: [(NSPredicate, String)] = [
      (NSPredicate(format: "%K == 1", "a"), "a == 1"), (NSPredicate(format: "%K == 1", "a.b"), "a.b == 1"),
      (NSPredicate(format: "a.%K == 1", "b.c"), "a.b.c == 1"),
      (NSPredicate(format: "%K.c == 1", "a.b"), "a.b.c == 1"),
      (NSPredicate(format: "%K == 1", "in"), "#in == 1"),
      (NSPredicate(format: "%K == 1", "SELF"), "SELF == 1"),
      (NSPredicate(format: "%K == %K", "a", "b"), "a == b"),
    ]
    for (predicate, expected) in cases { #expect(predicate.formatDescription == expected) }
  }

  @Test("the initialisers of existing code compile and are preferred over Foundation's unavailable ones")
  func initialisers() {
    let rating: Int? = nil
    #expect(
      NSPredicate(format: "rating >= %d AND location CONTAINS[cd] %@", 3, "pipe").formatDescription
        == "rating >= 3 AND location CONTAINS[cd] \"pipe\"")
    #expect(NSPredicate(format: "rating == 3").formatDescription == "rating == 3")
    #expect(NSPredicate(format: "rating == %@", rating).formatDescription == "rating == nil")
    #expect(
      NSPredicate(format: "a == %@ AND b == %d", argumentArray: ["x", 1]).formatDescription
        == "a == \"x\" AND b == 1")
    #expect(NSPredicate(format: "a == 1", argumentArray: nil).formatDescription == "a == 1")
    #expect(NSPredicate(format: "a BETWEEN %@", [1, 2]).formatDescription == "a BETWEEN {1, 2}")
    #expect(NSPredicate(format: "a == 1", "left over").formatDescription == "a == 1")
  }

  @Test("equal texts make equal predicates, and a copy is the predicate")
  func identity() throws {
    let predicate = NSPredicate(format: "a == %d", 1)
    #expect(predicate == NSPredicate(format: "(a = 1)"))
    #expect(predicate.hash == NSPredicate(format: "a == 1").hash)
    #expect(predicate != NSPredicate(format: "a == 2"))
    #expect(predicate.copy() as? NSPredicate === predicate)
  }

  @Test(
    "compound and constant predicates have trees; blocks, also inside of compounds, are refused with advice")
  func foreign() throws {
    let own = NSPredicate(format: "a == 1 OR b == 2")
    let block = NSPredicate { _, _ in true }
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [own, NSPredicate(value: true)])
    let none = NSCompoundPredicate(notPredicateWithSubpredicate: both)
    #expect(try none.predicateNode().formatDescription == "NOT ((a == 1 OR b == 2) AND TRUEPREDICATE)")
    #expect(none.formatDescription == "NOT ((a == 1 OR b == 2) AND TRUEPREDICATE)")
    #expect(NSPredicate(value: false).formatDescription == "FALSEPREDICATE")
    #expect(try NSCompoundPredicate(andPredicateWithSubpredicates: []).predicateNode() == .and([]))
    let mixed = NSCompoundPredicate(orPredicateWithSubpredicates: [own, block])
    #expect(mixed.formatDescription.contains("BLOCKPREDICATE"))
    for foreign in [block, mixed] {
      #expect { try foreign.predicateNode() } throws: {
        ($0 as NSError).code == 134060
          && ($0 as NSError).localizedDescription.contains("NSPredicate(format:)")
      }
    }
  }

  @Test("variables are replaced by value, in compounds too, and keep their place otherwise")
  func variables() throws {
    let template = NSPredicate(format: "a == $A AND b IN $B AND c BETWEEN {$A, 9}")
    #expect(template.formatDescription == "a == $A AND b IN $B AND c BETWEEN {$A, 9}")
    let filled = template.withSubstitutionVariables(["A": 1, "B": ["x", "y"]])
    #expect(filled.formatDescription == "a == 1 AND b IN {\"x\", \"y\"} AND c BETWEEN {1, 9}")
    let compound = NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "a == $A"))
    let replaced: NSCompoundPredicate = compound.withSubstitutionVariables(["A": NSNull()])
    #expect(replaced.formatDescription == "NOT a == nil")
    #expect(template.withSubstitutionVariables(["A": 1]).formatDescription.contains("$B"))
  }
}
