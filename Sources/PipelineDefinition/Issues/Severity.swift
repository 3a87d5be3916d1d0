/// Whether a problem rejects the record (`error`) or is only reported (`warning`).
public enum Severity: String, Sendable, Codable, Hashable, CaseIterable {
  case error, warning
}
