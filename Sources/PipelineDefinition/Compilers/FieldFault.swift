/// A violation by one field. It is small, so that recording it is cheap. ``FieldParser/issue(for:bytes:at:field:)``
/// makes the message.
package struct FieldFault: Sendable, Hashable {
  /// Index of the column in its ``ColumnSet``.
  package var column: Int
  /// Index of the rule in the column's definition; -1 if the text does not match the column's type; -2 and less for
  /// its transforms, first to last.
  package var rule: Int
  package var severity: Severity
  /// Whether a transform would make a text longer than a field may be.
  private(set) var isTooLong = false

  package init(column: Int, rule: Int, severity: Severity) {
    self.column = column
    self.rule = rule
    self.severity = severity
  }

  init(column: Int, _ refusal: FieldTransformer.Refusal) {
    self.init(column: column, rule: -2 - refusal.step, severity: .error)
    isTooLong = refusal.isTooLong
  }

  enum Subject {
    case type, rule(Int), transform(Int)
  }

  var subject: Subject { rule >= 0 ? .rule(rule) : rule == -1 ? .type : .transform(-2 - rule) }
  /// Whether a transform refuses the text. Its message does not quote the text.
  var isOfTransform: Bool { rule < -1 }
  /// A text that a conversion refuses does not match the declared type of its column, like a text that is not a
  /// number.
  var code: IssueCode { isTooLong ? .fieldTooLong : rule < 0 ? .typeError : .constraintError }
}
