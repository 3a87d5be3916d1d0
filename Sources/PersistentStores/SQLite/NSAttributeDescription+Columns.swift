import Foundation
import ManagedObjectModel

extension NSAttributeDescription {
  /// A column's value in the stored form of this attribute's type: Apple's files store whole dates as integers.
  func storedValue(column: Int32, of statement: SQLiteStatement) -> StoredValue {
    if statement.isNull(column) { return .null }
    switch attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType:
      return .integer(statement.integer(column))
    case .doubleAttributeType, .floatAttributeType, .dateAttributeType: return .real(statement.real(column))
    case .decimalAttributeType: return .decimal(Decimal(storedReal: statement.real(column)))
    default: return statement.value(column)
    }
  }
}
