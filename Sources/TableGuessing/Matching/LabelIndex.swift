/// The labels of a vocabulary, prepared for comparison.
struct LabelIndex: Sendable {
  private let attributes: [[LabelText]]
  private let times: [LabelText]
  private let others: [LabelText]
  private let dayFirst: Set<LabelText>
  private let exact: Set<LabelText>

  init(_ vocabulary: AttributeVocabulary) {
    attributes = vocabulary.attributes.map { $0.labels.map(LabelText.init) }
    times = vocabulary.timeLabels.map(LabelText.init)
    others = vocabulary.otherLabels.map(LabelText.init)
    dayFirst = Set(vocabulary.dayFirstLabels.map(LabelText.init))
    exact = Set(attributes.flatMap { $0 } + times + others)
  }

  /// How well a label says that a column is of an attribute.
  func similarity(_ label: LabelText, toAttribute index: Int) -> Double {
    attributes[index].map { label.similarity(to: $0) }.max() ?? 0
  }

  /// Whether a text is a known label as it is, apart from what is in brackets.
  func isLabel(_ text: String) -> Bool {
    guard !text.isEmpty, text.count <= 60 else { return false }
    return exact.contains(LabelText(text))
  }

  func isTime(_ label: LabelText) -> Bool { times.contains { label.similarity(to: $0) >= 0.85 } }
  func isOther(_ label: LabelText) -> Bool { others.contains { label.similarity(to: $0) >= 0.85 } }
  func isDayFirst(_ label: LabelText) -> Bool { dayFirst.contains(label) }
}
