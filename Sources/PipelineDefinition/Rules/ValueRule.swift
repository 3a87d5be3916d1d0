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
    /// There is a value.
    case required
    /// A date is not before this one.
    case notBefore(String)
    /// A date is not after this one.
    case notAfter(String)
    /// A date without a time may be up to 14 hours ahead of the clock: in some time zone (UTC+14) that day has begun.
    case notInFuture
    /// A number is within bounds; nil for no bound.
    case range(min: Double?, max: Double?)
    /// The number of Unicode scalars of a text is within bounds; nil for no bound.
    case length(min: Int?, max: Int?)
    /// The field is one of these texts.
    case oneOf([String])
    /// The field is none of these texts.
    case notOneOf([String])
    /// No other record and no stored entry has the value.
    case unique
    /// A text has a format.
    case format(TextFormat)
    /// The whole field matches a regular expression (ICU).
    case pattern(String)
    /// A text is a quantity.
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
