/// Whether a problem costs the record its place (`error`) or is only told (`warning`).
public enum Severity: String, Sendable, Codable, Hashable, CaseIterable {
  case error, warning
}
