import Foundation
import ModelTestSupport
import TestSupport
import Testing

@testable import PostgreSQLStore

@Suite("Decimals have PostgreSQL's binary form", .seeded)
struct NumericDigitsTests {
  private static func roundTrip(_ number: Decimal) -> String? {
    var bytes: [UInt8] = []
    NumericDigits(number)?.append(to: &bytes)
    return bytes.withUnsafeBytes { NumericDigits.text($0) }
  }

  @Test(
    "Every digit comes back",
    arguments: [
      "0", "1", "-1", "9999", "10000", "-10000.0001", "0.5", "-0.00012", "12345678901234567890.123456789",
      "99999999999999999999999999999999999999", "0.00000000000000000000000000001", "100000000", "3.133",
    ])
  func digits(text: String) throws {
    let number = try #require(Decimal(string: text))
    let found = try #require(Self.roundTrip(number))
    #expect(Decimal(string: found) == number)
  }

  @Test("Random ones", arguments: Randomness.seeds(20, long: 500))
  func random(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let digits = (0..<Int.random(in: 1...30, using: &generator)).map { _ in
        String(Int.random(in: 0...9, using: &generator))
      }.joined()
      let exponent = Int.random(in: -40...20, using: &generator)
      let number = try #require(Decimal(string: "\(Bool.random(using: &generator) ? "-" : "")\(digits)e\(exponent)"))
      let found = try #require(Self.roundTrip(number))
      #expect(Decimal(string: found) == number, "seed \(seed), \(number)")
    }
  }

  @Test("NaN is none") func notANumber() { #expect(Self.roundTrip(.nan) == nil) }
}
