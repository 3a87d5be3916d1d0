/// One rule for whole records, and the severity of a violation.
///
/// In a definition it is an object `{"rule": NAME, …}` of `recordRules`, with optional `name`, `message` and
/// `severity`:
///
/// | rule | keys | what must hold |
/// |---|---|---|
/// | `compare` | `left`, `operator`, `right`, `as`, `emptyFails` | the comparison of the columns `left` and `right` |
/// | `when` | `if`, `then` | if the condition `if` holds, all conditions of `then` hold; see ``RecordCondition`` |
/// | `anyOf` | `columns` | at least one of the columns is not empty |
///
/// Columns are named by their names or attributes. The rules apply to the transformed values of records whose fields
/// are all valid, and all rules are checked. A column that the input lacks is empty; so is a text of white space.
public struct RecordRule: Sendable, Hashable {
  /// What is checked, with its parameters.
  public enum Kind: Sendable, Hashable {
    /// Two columns are in a relation.
    case compare(ColumnComparison)
    /// Where the condition holds, the others must hold too.
    case when(RecordCondition, then: [RecordCondition])
    /// At least one of the columns has a value.
    case anyOf([String])
  }

  /// What is checked.
  public var kind: Kind
  /// Prefix of the messages about the rule.
  public var name: String?
  /// The message for a violation: what is wrong and a remedy. By default it is generated from the rule.
  public var message: String?
  /// Whether a violation rejects the record or is only reported.
  public var severity: Severity

  /// Makes a rule. The parameters are the properties of the same names.
  public init(_ kind: Kind, name: String? = nil, message: String? = nil, severity: Severity = .error) {
    self.kind = kind
    self.name = name
    self.message = message
    self.severity = severity
  }

  /// The rule's name in a definition.
  public var ruleName: String {
    switch kind {
    case .compare: "compare"
    case .when: "when"
    case .anyOf: "anyOf"
    }
  }
}

/// A comparison of two columns: numbers and dates by value, texts by their UTF-8 bytes.
public struct ColumnComparison: Sendable, Hashable {
  /// The column on the left side.
  public var left: String
  /// How both sides are compared.
  public var comparison: Comparison
  /// The column on the right side.
  public var right: String
  /// Whether texts are read as numbers; a text that is not a number violates the rule.
  public var asNumbers: Bool
  /// Whether an empty side violates the rule.
  public var emptyFails: Bool

  /// Makes a comparison. The parameters are the properties of the same names.
  public init(
    _ left: String, _ comparison: Comparison, to right: String, asNumbers: Bool = false, emptyFails: Bool = false
  ) {
    self.left = left
    self.comparison = comparison
    self.right = right
    self.asNumbers = asNumbers
    self.emptyFails = emptyFails
  }
}

/// The relation of two values, as written in a definition.
public enum Comparison: String, Sendable, Hashable, CaseIterable {
  /// The left value is smaller.
  case less = "<"
  /// The left value is smaller, or both are equal.
  case atMost = "<="
  /// Both values are equal.
  case equal = "="
  /// The values differ.
  case notEqual = "!="
  /// The left value is larger, or both are equal.
  case atLeast = ">="
  /// The left value is larger.
  case greater = ">"
}

/// A condition on a record.
///
/// In a definition it is `{"all": […]}`, `{"any": […]}`, `{"not": {…}}`, or `{"column": NAME, …}` with tests that
/// must all hold: `is` (also `=`), `isNot` (also `!=`), `<`, `<=`, `>=`, `>` with a constant or with `{"column":
/// NAME}`; `oneOf` with a list of constants; `isEmpty`, `isNotEmpty` with true or false. `"as": "number"` reads texts
/// as numbers. Constants are texts, numbers, true or false, and for dates ISO 8601 texts. For an empty column only
/// `isEmpty` and `isNot` hold.
public indirect enum RecordCondition: Sendable, Hashable {
  /// Every condition holds.
  case all([RecordCondition])
  /// At least one condition holds.
  case any([RecordCondition])
  /// The condition does not hold.
  case not(RecordCondition)
  /// The tests of a column hold.
  case column(ColumnCondition)
}

/// A column and the tests of its value.
public struct ColumnCondition: Sendable, Hashable {
  /// A value in a definition.
  public enum Constant: Sendable, Hashable {
    /// A text, or a date as text.
    case text(String)
    /// A number.
    case number(Double)
    /// True or false.
    case flag(Bool)
  }

  /// What a column is compared with.
  public enum Operand: Sendable, Hashable {
    /// A value in the definition.
    case constant(Constant)
    /// The value of another column.
    case column(String)
  }

  /// One test of a column's value.
  public enum Test: Sendable, Hashable {
    /// Whether the column has no value.
    case isEmpty(Bool)
    /// The value and the operand are in this relation.
    case compare(Comparison, Operand)
    /// The value is one of these.
    case oneOf([Constant])
  }

  /// The column whose value is tested.
  public var column: String
  /// At least one test; all must hold.
  public var tests: [Test]
  /// Whether texts are read as numbers; for a text that is not a number only `isNot` holds.
  public var asNumbers: Bool

  /// Makes a condition. The parameters are the properties of the same names.
  public init(_ column: String, _ tests: [Test], asNumbers: Bool = false) {
    self.column = column
    self.tests = tests
    self.asNumbers = asNumbers
  }
}
