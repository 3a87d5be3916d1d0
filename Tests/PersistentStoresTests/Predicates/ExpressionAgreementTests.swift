import Foundation
import ModelTestSupport
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import PersistentStores

/// The law: an expression has the same value for an object in memory, for its row in SQLite, and for a dictionary.
@Suite("Expression agreement: memory, SQLite and single objects give the same answers", .seeded)
struct ExpressionAgreementTests {
  @Test("for random expressions over random rows", arguments: Randomness.seeds(3, long: 100), [false, true])
  func random(seed: UInt64, mixes: Bool) throws {
    let wrong = try disagreements(seed: seed, mixes: mixes) { $0 }
    #expect(wrong.isEmpty, "seed \(seed): \(wrong.count): \(wrong.prefix(3).joined(separator: "\n"))")
  }

  @Test("a division in SQL that keeps no remainder is noticed")
  func canary() throws {
    let wrong = try disagreements(seed: 3, mixes: false) { node in
      node.mapOperands { operand in
        if case .function(.divide, let operands) = operand {
          .function(.divide, [operands[0], .function(.multiply, [operands[1], .constant(.real(1))])])
        } else {
          nil
        }
      }
    }
    #expect(!wrong.isEmpty)
  }

  @Test("random expressions print and parse back to themselves")
  func roundTrip() throws {
    var random = RandomExpressions(generator: SeededGenerator(seed: Randomness.seed), mixes: true)
    for _ in 0..<TestLength.rounds(1_000, long: 30_000) {
      let node = random.node().mapOperands { operand in
        switch operand {
        case .constant(.real(let value)) where !value.isFinite: .constant(.integer(1))
        case .constant(.date(let date)) where !date.timeIntervalSinceReferenceDate.isFinite: .constant(.integer(1))
        case .constant(.decimal): .constant(.integer(1))
        // Seconds as a date are a date.
        case .function(.cast, _): .constant(.integer(1))
        default: nil
        }
      }
      let printed = node.formatDescription
      #expect(try PredicateParser.parse(printed) == node, "\(printed)")
    }
  }

  /// - Parameter inSQL: The predicate to ask SQLite with.
  private func disagreements(
    seed: UInt64, mixes: Bool, inSQL: (PredicateNode) -> PredicateNode
  ) throws -> [String] {
    var values = RandomPredicates(seed: seed)
    var random = RandomExpressions(generator: SeededGenerator(seed: seed), mixes: mixes)
    let database = try PredicateDatabase()
    try SurfSchema.createTable(in: database)
    let rows = (0..<60).map { _ in mixes ? values.row() : Self.small(values.row()) }
    for row in rows { try SurfSchema.insert(row, into: database) }
    let objects = rows.prefix(10).map(Self.dictionary)
    var (found, wrong, failures) = (0, [String](), 0)
    for _ in 0..<(mixes ? 500 : 250) {
      let node = random.node()
      let bound = try node.bound(to: SurfSchema())
      let inMemory = rows.indices.filter { index in bound.matches { rows[index][$0.name] ?? .null } }
      let inSQLite: [Int64]
      do {
        inSQLite = try inSQL(node).bound(to: SurfSchema()).rows(in: database)
      } catch let error as NSError where error.code == 134180 {
        failures += 1
        continue
      }
      found += inMemory.count
      if inMemory.map({ Int64($0 + 1) }) != inSQLite {
        wrong.append("\(node.formatDescription): memory \(inMemory), SQLite \(inSQLite)")
      }
      guard !mixes else { continue }
      let evaluated = try objects.indices.filter { try node.evaluated(on: objects[$0]) }
      if inMemory.filter({ $0 < 10 }) != evaluated {
        wrong.append("\(node.formatDescription): memory \(inMemory), evaluated \(evaluated)")
      }
    }
    #expect(found > 2_000, "too few rows fit for the test to mean something")
    #expect(failures < 25, "too many expressions were too deep")
    return wrong
  }

  /// The row with whole numbers whose products stay within 64 bits: a single object does not tell that a number was
  /// whole before it became larger.
  private static func small(_ row: [String: StoredValue]) -> [String: StoredValue] {
    row.mapValues { if case .integer(let number) = $0 { .integer(number % 100) } else { $0 } }
  }

  /// The row as the object that a client has.
  private static func dictionary(_ row: [String: StoredValue]) -> [String: Any] {
    var result: [String: Any] = [:]
    for (name, value) in row {
      guard let type = SurfSchema.types[name] else { continue }
      result[name] = PredicateConstant(value, type).foundationValue
    }
    return result
  }
}
