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

  /// Decides by what was counted so far; `column` is the column's name, for the notes.
  package func verdict(column: String) -> Verdict {
    var verdict = Verdict()
    for shape in shapes where shape.counts.total > 0 { shape.named.decide(column: column, &verdict) }
    return verdict
  }
}

extension DateSurvey.Shape {
  /// The largest share of texts in the other order that counts as single mistakes: one in twenty.
  private static let mistakesShare = 20

  /// With the pattern of each order as its name, with the digits of the years that occurred: declared, it reads the
  /// texts.
  fileprivate var named: Self {
    var named = self
    for (index, order) in DayMonthOrder.allCases.enumerated() {
      let patterns = (declared[order, default: []] + counts.readings[index].formats).compactMap(\.pattern)
      let digits = hasLongYears && !hasShortYears ? 4 : 2
      named.counts.readings[index].name =
        (patterns.first { $0 == $0.withYear(digits: digits) } ?? patterns.first)?.text ?? ""
    }
    return named
  }

  private func index(_ order: DayMonthOrder) -> Int { order == DayMonthOrder.allCases[0] ? 0 : 1 }
  private func only(_ order: DayMonthOrder) -> Int { counts.readings[index(order)].only }
  private func name(_ order: DayMonthOrder) -> String { counts.readings[index(order)].name }

  fileprivate func decide(column: String, _ verdict: inout DateSurvey.Verdict) {
    let orders = DayMonthOrder.allCases.filter { declared[$0] != nil }
    let isOpen = orders.count > 1
    // With both declared, the order that more texts require.
    let order = isOpen && only(.dayFirst) > only(.monthFirst) ? .dayFirst : orders[0]
    let (own, other, opposite) = (only(order), only(order.opposite), order.opposite)
    if isOpen, own == 0 {
      verdict.refusal = DateSurvey.Finding(message: undecidedMessage)
      return
    }
    if other > 0, own == 0 {
      verdict.refusal = DateSurvey.Finding(message: contradictionMessage(order), line: examples[opposite]?.line)
      return
    }
    guard other * Self.mistakesShare <= own else {
      verdict.refusal = DateSurvey.Finding(message: mixedMessage(order), line: examples[opposite]?.line)
      return
    }
    if isOpen {
      verdict.excluded += declared[opposite] ?? []
      verdict.notes.append("\(column) is read as \(name(order)): \(counts.cannotBe(index(opposite)))")
    }
    if other > 0, let example = examples[opposite] {
      verdict.warning = DateSurvey.Finding(
        message: "is read as \(name(order)), as \(own) of \(counts.total) must be; \(other) can only be "
          + "\(name(opposite)), such as \(example.text) in line \(example.line): correct them",
        line: example.line)
    }
  }

  private var undecidedMessage: String {
    "\(counts.allCanBe([0, 1])), and nothing in the file decides: declare which, as the column's only format of this "
      + "kind in the pipeline, or with --date-format \(counts.readings[0].name) or --date-format "
      + counts.readings[1].name
  }

  private func contradictionMessage(_ order: DayMonthOrder) -> String {
    let example = examples[order.opposite].map { " (\($0.text) in line \($0.line))" } ?? ""
    return "\(counts.cannotBe(index(order)))\(example); \(counts.allCanBe([index(order.opposite)])): declare "
      + "\(name(order.opposite)) instead, in the column's \"formats\" or with --date-format"
  }

  private func mixedMessage(_ order: DayMonthOrder) -> String {
    let parts = [order, order.opposite].map { order in
      let example = examples[order].map { " (such as \($0.text) in line \($0.line))" } ?? ""
      return "\(counts.canOnlyBe(index(order)))\(example)"
    }
    return parts.joined(separator: " and ")
      + ", so the file mixes both and the order of the others is not known: write all dates in one way, such as 2014-07-14"
  }
}
