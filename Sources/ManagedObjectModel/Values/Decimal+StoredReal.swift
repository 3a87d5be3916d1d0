import Foundation

extension Decimal {
  /// The double nearest to the decimal, which is what a store keeps; NaN for NaN.
  ///
  /// Not `NSDecimalNumber.doubleValue`, which multiplies by powers of ten and can be off by one ulp.
  package var storedReal: Double {
    isNaN ? .nan : Double(description) ?? .nan
  }

  /// The decimal with the fewest digits that is stored as this double: the original decimal, up to 15 digits.
  ///
  /// Not `Decimal(_:)`, which multiplies by powers of ten too: 3.133 would become 3.132999999999999488.
  package init(storedReal: Double) { self = Decimal(string: "\(storedReal)") ?? Decimal(storedReal) }
}
