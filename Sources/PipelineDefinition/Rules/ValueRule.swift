/// One rule for the values of a column, and the severity of a violation.
///
/// In a definition it is an object `{"rule": NAME, …, "severity": "error" | "warning"}`; a rule without parameters
/// may be its name only. Only `required` applies to empty fields. An object without `rule` is a constraint in the
/// notation of Table Schema, as frictionless reads it: `required`, `unique`, `minimum` and `maximum` (numbers, or
/// dates as texts), `minLength`, `maxLength`, `enum`, `pattern`.
///
/// | rule | for | keys |
/// |---|---|---|
/// | `required` | all | – |
/// | `notBefore`, `notAfter` | dates | `date` (ISO 8601) |
/// | `notInFuture` | dates | – |
/// | `range` | numbers | `min`, `max` (at least one of them) |
/// | `length` | texts | `min`, `max`, in Unicode scalars |
/// | `oneOf` | all | `values`, compared byte for byte |
/// | `pattern` | all | `matches`: an ICU regular expression that the whole field must match |
/// | `notOneOf` | all | `values`, compared byte for byte |
/// | `unique` | all | – ; no other record and no stored entry may have the value |
/// | `format` | texts | `kind`: `uuid`, `uri` or `email`; see ``TextFormat`` |
/// | `quantity` | texts | `units`, `unitRequired`, `ranges`, `words`, `min`, `max`; see ``QuantityRule`` |
public struct ValueRule: Sendable, Hashable {
  /// What is checked, with its parameters.
  public enum Kind: Sendable, Hashable {
    case required
    case notBefore(String)
    case notAfter(String)
    /// A date without a time may be up to 14 hours ahead of the clock: in some time zone (UTC+14) that day has begun.
    case notInFuture
    case range(min: Double?, max: Double?)
    case length(min: Int?, max: Int?)
    case oneOf([String])
    case notOneOf([String])
    case unique
    case format(TextFormat)
    case pattern(String)
    case quantity(QuantityRule)
  }

  /// What is checked.
  public var kind: Kind
  /// Whether a violation rejects the record or is only reported.
  public var severity: Severity

  /// Makes a rule. The parameters are the properties of the same names.
  public init(_ kind: Kind, severity: Severity = .error) {
    self.kind = kind
    self.severity = severity
  }

  /// The rule's name in a definition.
  public var name: String {
    switch kind {
    case .required: "required"
    case .notBefore: "notBefore"
    case .notAfter: "notAfter"
    case .notInFuture: "notInFuture"
    case .range: "range"
    case .length: "length"
    case .oneOf: "oneOf"
    case .notOneOf: "notOneOf"
    case .unique: "unique"
    case .format: "format"
    case .pattern: "pattern"
    case .quantity: "quantity"
    }
  }
}
