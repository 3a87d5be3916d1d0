import Foundation

/// One value in the form that stores use, independent of its attribute's type.
///
/// Integers and Booleans are `integer`; Double, Float and Date (seconds since 2001-01-01 UTC) are `real`; String and
/// URI are `text`; UUID (16 bytes), Binary and Transformable (archived) are `blob`. A Decimal keeps its digits in
/// memory and becomes a REAL only in SQLite, as in the files of Apple's framework.
package enum StoredValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case decimal(Decimal)
  case text(String)
  case blob(Data)

  package var isNull: Bool { self == .null }

  /// Strings are equal if their bytes are, as in stores. Swift treats "é" in one scalar and in two scalars as equal, so
  /// a change from one form to the other would not be saved.
  package static func == (left: StoredValue, right: StoredValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.integer(let left), .integer(let right)): left == right
    case (.real(let left), .real(let right)): left == right
    case (.decimal(let left), .decimal(let right)): left == right
    case (.text(let left), .text(let right)): left == right && left.utf8.elementsEqual(right.utf8)
    case (.blob(let left), .blob(let right)): left == right
    default: false
    }
  }
}
