import Foundation
import ManagedObjectModel
import PersistentStores

/// The type of a column in PostgreSQL.
enum ColumnType: Sendable {
  case int2, int4, int8, float8, numeric, text, bytes

  init(_ attribute: NSAttributeDescription) {
    switch attribute.attributeType {
    case .integer16AttributeType, .booleanAttributeType: self = .int2
    case .integer32AttributeType: self = .int4
    case .integer64AttributeType: self = .int8
    case .doubleAttributeType, .floatAttributeType, .dateAttributeType: self = .float8
    case .decimalAttributeType: self = .numeric
    case .stringAttributeType, .URIAttributeType: self = .text
    default: self = .bytes
    }
  }

  /// As CREATE TABLE has it. Texts are compared by their bytes, whatever the database does.
  var declaration: String {
    switch self {
    case .int2: "smallint"
    case .int4: "integer"
    case .int8: "bigint"
    case .float8: "double precision"
    case .numeric: "numeric"
    case .text: Self.comparedText
    case .bytes: "bytea"
    }
  }

  private static let comparedText = "text COLLATE \"C\""

  /// A statement that compares the texts of a column by their bytes again.
  static func collating(_ column: String, of table: String) -> String {
    "ALTER TABLE \(table.quotedName) ALTER COLUMN \(column.quotedName) TYPE \(comparedText)"
  }

  /// As `catalogueName` has it.
  var name: String { self == .text ? "text" : declaration }

  /// The name of the type of a column `a` of `pg_attribute`, in statements. A setting of the server quotes some of them.
  static let catalogueName = "replace(format_type(a.atttypid, NULL), '\"', '')"

  /// The value as the column has it: whole dates are reals, and a number that is none is null.
  func columnValue(_ value: StoredValue) -> StoredValue {
    switch (self, value) {
    case (.float8, .integer(let number)): .real(Double(number))
    case (.float8, .decimal(let number)): .real(number.storedReal)
    case (.numeric, .integer(let number)): .decimal(Decimal(number))
    case (.numeric, .real(let number)): number.isNaN ? .null : .decimal(Decimal(storedReal: number))
    case (.int2, .real(let number)), (.int4, .real(let number)), (.int8, .real(let number)):
      Int64(exactly: number).map(StoredValue.integer) ?? .null
    default: StoredValueOrder.isNull(value) ? .null : value
    }
  }

  /// Whether a column holds the value unchanged.
  ///
  /// - Returns: Why not; nil if it does.
  func problem(with value: StoredValue) -> String? {
    switch value {
    case .integer(let number):
      switch self {
      case .int2 where Int16(exactly: number) == nil: "the number \(number) does not fit into 16 bits"
      case .int4 where Int32(exactly: number) == nil: "the number \(number) does not fit into 32 bits"
      default: nil
      }
    case .text(let text):
      text.utf8.contains(0) ? Self.zeroByte : nil
    default: nil
    }
  }

  static let zeroByte = "the text has a NUL character, which PostgreSQL does not keep"
}
