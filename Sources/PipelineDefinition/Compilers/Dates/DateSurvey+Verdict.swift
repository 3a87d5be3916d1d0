extension DateSurvey {
  /// What the texts of a column show about their order.
  package struct Verdict: Sendable, Equatable {
    /// The formats that the texts exclude.
    package var excluded: [DateFormat] = []
    /// Which format was chosen, and why; one sentence each.
    package var notes: [String] = []
    /// What should be looked at although the column can be read.
    package var warning: Finding?
    /// Why the column can't be read.
    package var refusal: Finding?
  }

  /// A finding, with the line of an example if there is one.
  package struct Finding: Sendable, Equatable {
    package var message: String
    package var line: Int?
  }

  /// The largest share of texts in the other order that counts as single mistakes: one in twenty.
  private static let mistakesShare = 20

  /// Judges what was counted so far; `column` is the column's name, for the notes.
  package func verdict(column: String) -> Verdict {
    var verdict = Verdict()
    for shape in shapes where shape.total > 0 { Self.judge(shape, column: column, &verdict) }
    return verdict
  }

  private static func judge(_ shape: Shape, column: String, _ verdict: inout Verdict) {
    let declared = DayMonthOrder.allCases.filter { shape.declared[$0] != nil }
    let isOpen = declared.count > 1
    // With both declared, the order that more texts require.
    let order = isOpen && shape.count(.dayFirst) > shape.count(.monthFirst) ? .dayFirst : declared[0]
    let (own, other) = (shape.count(order), shape.count(order.opposite))
    if isOpen, own == 0 {
      verdict.refusal = Finding(message: undecidedMessage(shape))
      return
    }
    if other > 0, own == 0 {
      verdict.refusal = Finding(
        message: contradictionMessage(shape, order), line: shape.examples[order.opposite]?.line)
      return
    }
    guard other * mistakesShare <= own else {
      verdict.refusal = Finding(message: mixedMessage(shape, order), line: shape.examples[order.opposite]?.line)
      return
    }
    if isOpen {
      verdict.excluded += shape.declared[order.opposite] ?? []
      verdict.notes.append(
        "\(column) is read as \(name(shape, order)): \(count(own, of: shape)) can't be "
          + name(shape, order.opposite))
    }
    if other > 0, let example = shape.examples[order.opposite] {
      verdict.warning = Finding(
        message: "is read as \(name(shape, order)), as \(count(own, of: shape)) must be; \(other) can only be "
          + "\(name(shape, order.opposite)), such as \(example.text) in line \(example.line): correct them",
        line: example.line)
    }
  }

  private static func undecidedMessage(_ shape: Shape) -> String {
    let names = DayMonthOrder.allCases.map { name(shape, $0) }
    return "\(all(shape)) can be \(names[0]) or \(names[1]), and nothing in the file decides: declare which, as the "
      + "column's only format of this kind in the pipeline, or with --date-format \(names[0]) or --date-format "
      + names[1]
  }

  private static func contradictionMessage(_ shape: Shape, _ order: DayMonthOrder) -> String {
    let example = shape.examples[order.opposite].map { " (\($0.text) in line \($0.line))" } ?? ""
    return "\(count(shape.count(order.opposite), of: shape)) can't be \(name(shape, order))\(example); \(all(shape)) "
      + "can be \(name(shape, order.opposite)): declare \(name(shape, order.opposite)) instead, in the column's "
      + "\"formats\" or with --date-format"
  }

  private static func mixedMessage(_ shape: Shape, _ order: DayMonthOrder) -> String {
    let parts = [order, order.opposite].map { order in
      let example = shape.examples[order].map { " (such as \($0.text) in line \($0.line))" } ?? ""
      return "\(count(shape.count(order), of: shape)) can only be \(name(shape, order))\(example)"
    }
    return parts.joined(separator: " and ")
      + ", so the file mixes both and the order of the others is not known: write all dates in one way, such as 2014-07-14"
  }

  // MARK: Words

  private static func count(_ value: Int, of shape: Shape) -> String { "\(value) of \(shape.total)" }

  private static func all(_ shape: Shape) -> String {
    shape.total == 1 ? "the only date" : "all \(shape.total)"
  }

  /// The pattern of an order with the digits of the years that occurred: declared, it reads the texts.
  private static func name(_ shape: Shape, _ order: DayMonthOrder) -> String {
    let patterns = shape.patterns[order] ?? []
    let declared = shape.declared[order]?.compactMap(\.pattern) ?? []
    let digits = shape.hasLongYears && !shape.hasShortYears ? 4 : 2
    let best = (declared + patterns).first { $0 == $0.withYear(digits: digits) }
    return (best ?? patterns.first)?.text ?? ""
  }
}
