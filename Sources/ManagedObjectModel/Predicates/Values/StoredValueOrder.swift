import Foundation

/// The order in which SQLite sorts and compares values (Datatypes In SQLite, "Comparison Expressions", collation
/// BINARY): NULL, then numbers by value, then texts by their bytes, then blobs by their bytes.
///
/// Decimals count as the REAL that the store keeps, NaN as the NULL that SQLite converts it to.
package enum StoredValueOrder {
  /// Less than, equal to or greater than 0.
  package static func compare(_ left: StoredValue, _ right: StoredValue) -> Int {
    switch (left, right) {
    case (.integer(let left), .integer(let right)):
      left < right ? -1 : left == right ? 0 : 1
    case (.text(let left), .text(let right)):
      ByteComparison(lowersCase: false).order(left.utf8Span.span, right.utf8Span.span)
    case (.blob(let left), .blob(let right)):
      ByteComparison(lowersCase: false).order(left.span, right.span)
    default:
      compareKinds(left, right)
    }
  }

  private static func compareKinds(_ left: StoredValue, _ right: StoredValue) -> Int {
    let (leftClass, rightClass) = (storageClass(left), storageClass(right))
    if leftClass != rightClass || leftClass == 0 { return leftClass - rightClass }
    switch (number(left), number(right)) {
    case (.integer(let left), .real(let right)): return compare(left, right)
    case (.real(let left), .integer(let right)): return -compare(right, left)
    case (.real(let left), .real(let right)): return left < right ? -1 : left == right ? 0 : 1
    default: return 0
    }
  }

  /// True for nil and for NaN, which columns cannot hold.
  package static func isNull(_ value: StoredValue) -> Bool {
    storageClass(value) == 0
  }

  private static func storageClass(_ value: StoredValue) -> Int {
    switch value {
    case .null: 0
    case .integer: 1
    case .real(let value): value.isNaN ? 0 : 1
    case .decimal(let value): value.isNaN ? 0 : 1
    case .text: 2
    case .blob: 3
    }
  }

  private static func number(_ value: StoredValue) -> StoredValue {
    if case .decimal(let decimal) = value { .real(decimal.storedReal) } else { value }
  }

  /// Exact: neither side is rounded to the other's type.
  private static func compare(_ whole: Int64, _ real: Double) -> Int {
    if real >= 0x1p63 { return -1 }
    if real < -0x1p63 { return 1 }
    let truncated = Int64(real)
    if whole != truncated { return whole < truncated ? -1 : 1 }
    let rest = real - Double(truncated)
    return rest > 0 ? -1 : rest < 0 ? 1 : 0
  }
}
