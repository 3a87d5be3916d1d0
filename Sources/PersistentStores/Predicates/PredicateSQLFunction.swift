import ManagedObjectModel

/// The SQL functions that the statements of `BoundPredicate.sql` call. Code that opens a connection registers all of
/// them as deterministic (`SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS`).
package enum PredicateSQLFunction: String, CaseIterable, Sendable {
  /// `OCD_STRING_COMPARE(operation INTEGER, options INTEGER, left TEXT, right TEXT)` → 1 or 0.
  ///
  /// `operation` and `options` are raw values of `TextOperation` and `TextOptions`. 0 if either argument does not have
  /// type TEXT (NULL included), otherwise `stringCompare`; an unknown operation is an SQL error.
  case stringCompare = "OCD_STRING_COMPARE"
  /// `OCD_STRING_FOLD(options INTEGER, text TEXT)` → TEXT.
  ///
  /// NULL if the argument does not have type TEXT, otherwise `stringFold`.
  case stringFold = "OCD_STRING_FOLD"
  /// `OCD_LIST_VALUE(list BLOB, index INTEGER)` → the value at that index, counted from 0.
  ///
  /// `list` is a `PackedValueList`; an invalid index or blob is an SQL error.
  case listValue = "OCD_LIST_VALUE"

  /// The name to register.
  package var name: String { rawValue }

  package var argumentCount: Int {
    switch self {
    case .stringCompare: 4
    case .stringFold, .listValue: 2
    }
  }

  /// What `OCD_STRING_COMPARE` returns for two texts in UTF-8; nil for an unknown operation.
  package static func stringCompare(
    operation: Int64, options: Int64, left: Span<UInt8>, right: Span<UInt8>
  ) -> Bool? {
    guard let operation = TextOperation(rawValue: operation) else { return nil }
    return TextComparison.holds(operation, options: TextOptions(rawValue: options), left: left, right: right)
  }

  /// What `OCD_STRING_FOLD` returns for a text in UTF-8, in UTF-8.
  package static func stringFold(options: Int64, text: Span<UInt8>) -> [UInt8] {
    TextFolding.fold(text, TextOptions(rawValue: options))
  }

  /// What `OCD_LIST_VALUE` returns for the bytes of its blob; nil if there is no such value.
  package static func listValue(list: Span<UInt8>, index: Int64) -> StoredValue? {
    PackedValueList.value(at: index, in: list)
  }
}
