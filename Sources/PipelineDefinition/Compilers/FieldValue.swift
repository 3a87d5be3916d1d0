/// The value of one field, as its attribute stores it.
package enum FieldValue: Sendable, Hashable {
  /// The field is empty or the dialect's text for nil. The value is nil, even if the model has a default.
  case null
  /// Also Booleans, as 0 and 1.
  case integer(Int64)
  /// Also dates, as seconds since 2001-01-01 UTC.
  case real(Double)
  /// The field's bytes unchanged; the caller has them.
  case text
  /// A value that differs from the field's bytes: other bytes, digits or a URI. `FieldParser.store(_:at:in:)` stores
  /// it.
  case encoded
}
