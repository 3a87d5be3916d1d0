/// Compiles record rules for the columns of a pipeline and collects those that do not apply.
struct RecordRuleCompiler {
  /// How two values are compared.
  private enum Domain {
    case number, date, text, flag
  }

  private let columns: [ColumnDefinition]
  /// `nil` for a column whose own mistake is already reported.
  private let types: [ColumnType?]
  private(set) var mistakes: [PipelineError.Mistake] = []
  /// Columns that the rule being compiled reads.
  private var seen: [Int] = []

  init(_ columns: [ColumnDefinition], types: [String: ColumnType]) {
    self.columns = columns
    self.types = columns.map { types[$0.attribute] }
  }

  /// The compiled rule, or nil with its mistakes recorded.
  mutating func check(_ rule: RecordRule, path: String) -> RecordCheck? {
    seen = []
    let before = mistakes.count
    let test = test(rule, path)
    guard let test, mistakes.count == before else { return nil }
    return RecordCheck(rule, test: test, columns: seen, names: seen.map { columns[$0].name })
  }

  private mutating func test(_ rule: RecordRule, _ path: String) -> RecordTest? {
    switch rule.kind {
    case .compare(let comparison):
      return compare(comparison, path)
    case .when(let condition, let conclusions):
      let condition = test(condition, "\(path).if")
      let tests = conclusions.enumerated().map { index, conclusion in
        test(conclusion, conclusions.count == 1 ? "\(path).then" : "\(path).then[\(index)]")
      }
      guard let condition else { return nil }
      return .any([.not(condition), .all(tests.compactMap(\.self))])
    case .anyOf(let names):
      let found = names.enumerated().map { column($1, "\(path).columns[\($0)]") }
      return .any(found.compactMap { $0.map { .not(.isEmpty(column: $0)) } })
    }
  }

  private mutating func test(_ condition: RecordCondition, _ path: String) -> RecordTest? {
    switch condition {
    case .all(let parts):
      return .all(parts.enumerated().compactMap { test($1, "\(path).all[\($0)]") })
    case .any(let parts):
      return .any(parts.enumerated().compactMap { test($1, "\(path).any[\($0)]") })
    case .not(let inner):
      return test(inner, "\(path).not").map { .not($0) }
    case .column(let condition):
      guard let column = column(condition.column, "\(path).column") else { return nil }
      return .all(condition.tests.compactMap { test($0, of: column, condition: condition, path: path) })
    }
  }

  private mutating func test(
    _ test: ColumnCondition.Test, of column: Int, condition: ColumnCondition, path: String
  ) -> RecordTest? {
    if case .isEmpty(let flag) = test {
      return flag ? .isEmpty(column: column) : .not(.isEmpty(column: column))
    }
    guard let domain = domain(of: column, asNumbers: condition.asNumbers, path: path) else { return nil }
    switch test {
    case .isEmpty: return nil
    case .oneOf(let values):
      return .oneOf(
        column: column,
        values.enumerated().compactMap { constant($1, domain: domain, column: column, path: "\(path).oneOf[\($0)]") })
    case .compare(let comparison, let operand):
      let path = "\(path).\(comparison.conditionKey)"
      guard isOrdered(domain, comparison, column: column, path: path) else { return nil }
      let right: RecordOperand? =
        switch operand {
        case .constant(let value): constant(value, domain: domain, column: column, path: path)
        case .column(let name):
          self.column(name, path).flatMap {
            self.operand(right: $0, left: column, domain: domain, asNumbers: condition.asNumbers, path: path)
          }
        }
      return right.map { .compare(column: column, comparison, $0, emptyHolds: comparison == .notEqual) }
    }
  }

  private mutating func compare(_ comparison: ColumnComparison, _ path: String) -> RecordTest? {
    let (left, right) = (column(comparison.left, "\(path).left"), column(comparison.right, "\(path).right"))
    guard let left, let right, let domain = domain(of: left, asNumbers: comparison.asNumbers, path: path),
      isOrdered(domain, comparison.comparison, column: left, path: "\(path).operator"),
      let operand = operand(
        right: right, left: left, domain: domain, asNumbers: comparison.asNumbers, path: path)
    else { return nil }
    return .compare(column: left, comparison.comparison, operand, emptyHolds: !comparison.emptyFails)
  }

  // MARK: Names and types

  /// Finds a column by its name, otherwise by its attribute.
  private mutating func column(_ name: String, _ path: String) -> Int? {
    let found = columns.firstIndex { $0.name == name } ?? columns.firstIndex { $0.attribute == name }
    guard let found else {
      let hint = NearestName.hint(for: name, in: columns.map(\.name))
      note(path, "no column '\(name)' is declared; declare it, or name a declared one\(hint)")
      return nil
    }
    if columns[found].relatedAttribute != nil {
      note(
        path,
        "'\(name)' belongs to a related object, and rules for records compare attributes of the entity itself; give its "
          + "column a rule of its own")
      return nil
    }
    if !seen.contains(found) { seen.append(found) }
    return found
  }

  private mutating func domain(of column: Int, asNumbers: Bool, path: String) -> Domain? {
    guard let type = types[column] else { return nil }
    switch type {
    case .text: return asNumbers ? .number : .text
    case .integer, .real, .single, .decimal: return .number
    case .uuid, .uri, .binary, .archive:
      note(
        path,
        "'\(columns[column].name)' is \(type.noun), and a rule for records can only test whether it is empty; use "
          + "\"isEmpty\"")
      return nil
    case .date, .boolean:
      if asNumbers {
        note("\(path).as", "'\(columns[column].name)' is \(type.noun), which is not read as a number; remove it")
        return nil
      }
      return type == .date ? .date : .flag
    }
  }

  private mutating func isOrdered(
    _ domain: Domain, _ comparison: Comparison, column: Int, path: String
  ) -> Bool {
    if domain != .flag || comparison == .equal || comparison == .notEqual { return true }
    note(path, "'\(columns[column].name)' is true or false, which have no order; use = or !=")
    return false
  }

  private mutating func operand(
    right: Int, left: Int, domain: Domain, asNumbers: Bool, path: String
  ) -> RecordOperand? {
    guard let leftType = types[left], let rightType = types[right] else { return nil }
    // If texts are read as numbers, numbers stay numbers.
    guard let other = self.domain(of: right, asNumbers: asNumbers, path: path) else { return nil }
    if other == domain { return domain == .text ? .textColumn(right) : .numberColumn(right) }
    let advice =
      (domain == .text && other == .number) || (domain == .number && other == .text)
      ? "add \"as\": \"number\" if the texts are numbers" : "compare columns of one type"
    note(
      path,
      "'\(columns[left].name)' is \(leftType.noun) and '\(columns[right].name)' is \(rightType.noun); \(advice)")
    return nil
  }

  private mutating func constant(
    _ value: ColumnCondition.Constant, domain: Domain, column: Int, path: String
  ) -> RecordOperand? {
    switch (domain, value) {
    case (.text, .text(let text)): return .text(Array(text.utf8))
    case (.number, .number(let number)): return .number(RecordNumber(number))
    case (.flag, .flag(let flag)): return .number(.integer(flag ? 1 : 0))
    case (.date, .text(let text)):
      if let seconds = DateFormat.iso8601.seconds(Array(text.utf8).span) { return .number(.real(seconds)) }
      note(path, "'\(text)' is not an ISO 8601 date; write it like 1900-01-01")
    default:
      let expected =
        switch domain {
        case .text: "a text in quotes (or, for texts that are numbers, add \"as\": \"number\")"
        case .number: "a number"
        case .flag: "true or false"
        case .date: "a date in quotes, like \"1900-01-01\""
        }
      note(path, "expected \(expected), because '\(columns[column].name)' is compared with it")
    }
    return nil
  }

  private mutating func note(_ path: String, _ message: String) {
    mistakes.append(PipelineError.Mistake(path: path, message: message))
  }
}
