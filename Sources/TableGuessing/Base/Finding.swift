/// What was concluded about one point of a file, how sure that is, and why.
package struct Finding<Value: Sendable & Hashable>: Sendable, Hashable {
  package var value: Value
  /// From 0 to 1. It is a rank rather than a probability: 1 means that nothing else reads the sample as well.
  package var confidence: Double
  /// One sentence without a full stop that says what in the file speaks for the value.
  package var evidence: String
  /// What else it may be, as a user would declare it; empty if nothing else comes near.
  package var choices: [String]

  package init(_ value: Value, confidence: Double, evidence: String, choices: [String] = []) {
    self.value = value
    self.confidence = min(1, max(0, confidence))
    self.evidence = evidence
    self.choices = choices
  }
}

extension Finding {
  /// The finding without its value, to be listed with others.
  package func point(_ name: String, shown: String, key: String? = nil) -> GuessPoint {
    GuessPoint(
      name: name, shown: shown, confidence: confidence, evidence: evidence, choices: choices, key: key)
  }
}

/// A finding of any kind as a line of the report.
package struct GuessPoint: Sendable, Hashable {
  package var name: String
  /// The value as text.
  package var shown: String
  package var confidence: Double
  package var evidence: String
  package var choices: [String]
  /// The key of a pipeline file that declares it; nil if none does.
  package var key: String?

  package init(
    name: String, shown: String, confidence: Double, evidence: String, choices: [String] = [], key: String? = nil
  ) {
    self.name = name
    self.shown = shown
    self.confidence = confidence
    self.evidence = evidence
    self.choices = choices
    self.key = key
  }
}

/// A noun with its number: `1 record`, `2 records`.
func counted(_ count: Int, _ noun: String, plural: String? = nil) -> String {
  count == 1 ? "1 \(noun)" : "\(count.grouped) \(plural ?? noun + "s")"
}

/// Texts in double quotes, the first few, as evidence shows them.
func quoted(_ texts: [String], limit: Int = 4) -> String {
  texts.prefix(limit).map { "\"\($0.count > 40 ? $0.prefix(39) + "…" : $0[...])\"" }.joined(separator: ", ")
}
