import Foundation
import ModelTestSupport
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import PersistentStores

@Suite("Predicate parser: any text gives a tree or an error, and trees print as what they are", .seeded)
struct PredicateParserFuzzTests {
  static let pieces = [
    "rating", "name", "a.b", ".", "==", "=", "<", ">=", "!=", "!", "AND", "or", "NOT", "IN", "BETWEEN",
    "CONTAINS",
    "[c]", "[", "]", "{", "}", "(", ")", ",", "'x'", "\"", "'", "\\", "1", "2.5", "-", "1e9", "0x", "%@",
    "%K", "%d", "%",
    "$V", "#in", "SELF", "nil", "YES", "TRUEPREDICATE", "CAST", "ANY", "@count", "é", "🌊", "\0", " ", "\n",
    "&&", "||",
    "LIKE", "MATCHES", "+", "*", "/", "**", ":", "abs(", "sum", "max(1, ", "modulus:by:(", "now()", "TERNARY(", "FIRST",
    "#FIRST", "LAST]", "SIZE", "UNION", "MINUS", "FUNCTION(", "'length'", "[n]",
  ]

  @Test("random pieces of the language", arguments: Randomness.seeds(4, long: 100))
  func pieces(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var parsed = 0
    for _ in 0..<10_000 {
      let count = Int.random(in: 1...8, using: &generator)
      let format = (0..<count).map { _ in Self.pieces.randomElement(using: &generator) ?? "" }
        .joined(separator: Bool.random(using: &generator) ? " " : "")
      check(format, &parsed)
    }
    #expect(parsed > 20, "the fuzzer must also meet valid predicates")
  }

  @Test("random characters")
  func characters() {
    var generator = Randomness.generator()
    var parsed = 0
    let rounds = TestLength.rounds(10_000, long: 200_000)
    for _ in 0..<rounds {
      let count = Int.random(in: 0...30, using: &generator)
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      check(String(decoding: bytes, as: UTF8.self), &parsed)
      check(String(decoding: bytes.map { $0 & 0x7F }, as: UTF8.self), &parsed)
    }
    #expect(parsed < rounds, "most random characters are no predicate")
  }

  @Test("a valid predicate with one character changed, left out or doubled")
  func mutations() {
    let valid = Array(
      "NOT (rating >= %d AND name CONTAINS[cd] 'pi\\u00e9' OR #in IN {1, 2.5, nil, $X}) || a BETWEEN %@"
        .unicodeScalars)
    var parsed = 0
    for index in valid.indices {
      for change in ["", "x", "'", "(", "\\", "%", String(valid[index]) + String(valid[index])] {
        let format = valid[..<index] + Array(change.unicodeScalars) + valid[(index + 1)...]
        check(String(String.UnicodeScalarView(format)), &parsed)
      }
    }
    #expect(parsed > 100)
  }

  @Test("A key in a subscript that is spelled like a position stays a key", arguments: ["#FIRST", "#last", "FIRST"])
  func keyAsPosition(_ index: String) throws {
    let node = try PredicateParser.parse("a[\(index)] == 1")
    #expect(try PredicateParser.parse(node.formatDescription) == node)
  }

  @Test("a valid expression with one character changed, left out or doubled")
  func expressionMutations() {
    let valid = Array(
      "TERNARY(a[0] > -b ** 2, sum({1, c}), modulus:by:(d, 3)) + CAST(e, 'NSNumber') / 2 IN f UNION {g[LAST], abs(-1)}"
        .unicodeScalars)
    var parsed = 0
    for index in valid.indices {
      for change in ["", "x", "'", "(", "#", "-", ":", String(valid[index]) + String(valid[index])] {
        let format = valid[..<index] + Array(change.unicodeScalars) + valid[(index + 1)...]
        check(String(String.UnicodeScalarView(format)), &parsed)
      }
    }
    #expect(parsed > 100)
  }

  /// Parses, and holds a parsed one to what every tree must do.
  private func check(_ format: String, _ parsed: inout Int) {
    do {
      let node = try PredicateParser.parse(format, arguments: [1, [1, 2], "k", 4, 5, 6, 7, 8])
      parsed += 1
      let again = try PredicateParser.parse(node.formatDescription)
      #expect(again.formatDescription == node.formatDescription, "\(format)")
      _ = try? node.bound(to: SurfSchema()).sql(columns: SurfSchema.column)
    } catch let error as PredicateSyntaxError {
      #expect((1...format.unicodeScalars.count + 1).contains(error.position), "\(format): \(error)")
    } catch {
      Issue.record("\(format): \(error)")
    }
  }

  @Test("random trees print and parse back to themselves")
  func roundTrip() throws {
    var random = RandomPredicates(seed: Randomness.seed)
    for _ in 0..<TestLength.rounds(2_000, long: 50_000) {
      let node = random.node().mapOperands { operand in
        if case .constant(let constant) = operand, !Self.hasLiteral(constant) {
          .constant(.integer(1))
        } else {
          nil
        }
      }
      let printed = node.formatDescription
      let parsed = try PredicateParser.parse(printed)
      #expect(parsed == node, "\(printed)")
    }
  }

  /// Data and decimals have no literals of their own, UUIDs are text, and inf and nan are not numbers of the language.
  private static func hasLiteral(_ constant: PredicateConstant) -> Bool {
    switch constant {
    case .real(let value): value.isFinite
    case .date(let value): value.timeIntervalSinceReferenceDate.isFinite
    case .decimal, .uuid, .data: false
    default: true
    }
  }
}
