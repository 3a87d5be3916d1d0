/// One demand on a record as a whole, with what happens when a record breaks it.
///
/// In a definition an object `{"rule": NAME, …}` of `recordRules`, with `name`, `message` and `severity` as wished:
///
/// | rule | keys | what must hold |
/// |---|---|---|
/// | `compare` | `left`, `operator`, `right`, `as`, `emptyFails` | the columns `left` and `right` compare so |
/// | `when` | `if`, `then` | where the condition `if` holds, all conditions of `then` hold; see ``RecordCondition`` |
/// | `anyOf` | `columns` | at least one of the columns is not empty |
///
/// Columns go by their names or their attributes. Looked at are the values, after transforms, of records whose fields
/// are all good; all rules are looked at. A column that the input lacks is empty, as is a text of white space.
public struct RecordRule: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    case compare(ColumnComparison)
    case when(RecordCondition, then: [RecordCondition])
    case anyOf([String])
  }

  public var kind: Kind
  /// Begins the messages about it.
  public var name: String?
  /// What is wrong and what to do, instead of words made from the rule.
  public var message: String?
  public var severity: Severity

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

/// Two columns and how they must compare: numbers and dates by value, texts by their bytes in UTF-8.
public struct ColumnComparison: Sendable, Hashable {
  public var left: String
  public var comparison: Comparison
  public var right: String
  /// Whether texts are read as numbers; one that holds none fails.
  public var asNumbers: Bool
  /// Whether the rule is broken where a side is empty.
  public var emptyFails: Bool

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

/// How two values compare, as it is written in a definition.
public enum Comparison: String, Sendable, Hashable, CaseIterable {
  case less = "<"
  case atMost = "<="
  case equal = "="
  case notEqual = "!="
  case atLeast = ">="
  case greater = ">"
}

/// Something that holds for a record or not.
///
/// In a definition `{"all": […]}`, `{"any": […]}`, `{"not": {…}}`, or `{"column": NAME, …}` with tests that must all
/// hold: `is` (also `=`), `isNot` (also `!=`), `<`, `<=`, `>=`, `>` with a constant or with `{"column": NAME}`; `oneOf`
/// with a list of constants; `isEmpty`, `isNotEmpty` with true or false; `"as": "number"` reads texts as numbers.
/// Constants are texts, numbers, true or false, and for dates ISO 8601 texts. Of an empty column nothing holds but
/// `isEmpty` and `isNot`.
public indirect enum RecordCondition: Sendable, Hashable {
  case all([RecordCondition])
  case any([RecordCondition])
  case not(RecordCondition)
  case column(ColumnCondition)
}

/// A column and what it must be.
public struct ColumnCondition: Sendable, Hashable {
  public enum Constant: Sendable, Hashable {
    case text(String)
    case number(Double)
    case flag(Bool)
  }

  public enum Operand: Sendable, Hashable {
    case constant(Constant)
    case column(String)
  }

  public enum Test: Sendable, Hashable {
    case isEmpty(Bool)
    case compare(Comparison, Operand)
    case oneOf([Constant])
  }

  public var column: String
  /// At least one; all must hold.
  public var tests: [Test]
  /// Whether texts are read as numbers; of one that holds none only `isNot` holds.
  public var asNumbers: Bool

  public init(_ column: String, _ tests: [Test], asNumbers: Bool = false) {
    self.column = column
    self.tests = tests
    self.asNumbers = asNumbers
  }
}
