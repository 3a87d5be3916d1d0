import Foundation

/// One value as a store keeps it, whatever its attribute's type.
///
/// Integers and Booleans are `integer`; Double, Float and Date (seconds since 2001-01-01 UTC) are `real`;
/// String and URI are `text`; UUID (16 bytes), Binary and Transformable (archived) are `blob`. A Decimal keeps
/// its digits in memory and becomes a REAL only in SQLite, as in the files of Apple's framework.
package enum StoredValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case decimal(Decimal)
  case text(String)
  case blob(Data)

  package var isNull: Bool { self == .null }
}
