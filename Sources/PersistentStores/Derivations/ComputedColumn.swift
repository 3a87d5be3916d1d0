import ManagedObjectModel

/// The column of a derived attribute, and what keeps its values up to date.
///
/// The triggers are temporary ones of the connection that writes. A file has triggers of its own only for the derivations
/// whose text in Apple's stores is known (docs/coredata-format.md, "Derived attributes").
struct ComputedColumn: Sendable {
  /// The entity that declares the attribute.
  let entityName: String
  let attributeName: String
  /// The statements that create the triggers.
  let triggers: [String]
  /// The tables that the triggers are on.
  let tables: Set<String>
  /// Computes the values of all rows; nil for the time of the last save, which no other value tells.
  let fillStatement: String?

  /// Whether triggers of these names keep the column up to date.
  func isKept(by triggers: [String]) -> Bool {
    triggers.contains { $0.hasPrefix("Z_DA_") && $0.contains("_\(entityName)_\(attributeName)_") }
  }
}
