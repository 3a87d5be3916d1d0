/// Whether a problem rejects the record (`error`) or is only reported (`warning`).
public enum Severity: String, Sendable, Codable, Hashable, CaseIterable {
  /// The record is rejected.
  case error
  /// The problem is only reported.
  case warning
}
