/// Decides which column is which attribute: by its label, and by its values where the label says nothing.
struct AttributeMatcher {
  let vocabulary: AttributeVocabulary
  let index: LabelIndex
  let profiles: [ColumnProfile]
  let hasLabels: Bool

  struct Match: Sendable {
    let column: Int
    let attribute: Int
    var score: Double
    var evidence: String
  }

  /// For each column the attribute, by name; nil for a column without one.
  func guess() -> [Finding<String?>] {
    if !hasLabels, let known = knownOrder { return known }
    var candidates = profiles.indices.flatMap { column in
      vocabulary.attributes.indices.compactMap { match(column, $0) }
    }
    candidates.sort { ($1.score, $0.column, $0.attribute) < ($0.score, $1.column, $1.attribute) }
    var findings = profiles.indices.map { unmatched($0) }
    var taken: Set<Int> = []
    var matched: Set<Int> = []
    for match in candidates where !taken.contains(match.attribute) && !matched.contains(match.column) {
      let alternatives = candidates.filter { other in
        other.attribute == match.attribute && other.column != match.column && other.score >= match.score - 0.08
          && !matched.contains(other.column)
      }
      taken.insert(match.attribute)
      matched.insert(match.column)
      let name = vocabulary.attributes[match.attribute].name
      var finding = Finding<String?>(name, confidence: match.score, evidence: match.evidence)
      if !alternatives.isEmpty {
        finding.confidence = min(finding.confidence, 0.5)
        let others = ([match] + alternatives).map { shownLabel($0.column) }
        finding.evidence = "\(others.joined(separator: " and ")) may both be \(name)"
        finding.choices = others
      }
      findings[match.column] = finding
    }
    return findings
  }

  /// The attributes of a file without a header whose columns are in a known order.
  private var knownOrder: [Finding<String?>]? {
    let order = vocabulary.orders.first { order in
      order.count == profiles.count
        && zip(order, profiles).allSatisfy { name, profile in
          guard let attribute = vocabulary.attributes.first(where: { $0.name == name }) else { return false }
          if attribute.kind == .date { return profile.share([.date, .dateTime]) >= 0.8 }
          guard isPossible(profile, attribute) else { return false }
          guard let range = attribute.range else { return true }
          return profile.texts.allSatisfy { text, _ in Double(text).map { range.contains($0) } ?? false }
        }
    }
    return order?.map { name in
      Finding(
        name, confidence: 0.85, evidence: "the columns are in the order of a file that is known to have no header")
    }
  }

  private func shownLabel(_ column: Int) -> String {
    profiles[column].label.isEmpty ? "column \(column + 1)" : "\"\(profiles[column].label)\""
  }

  private func unmatched(_ column: Int) -> Finding<String?> {
    let profile = profiles[column]
    let label = LabelText(profile.label)
    if profile.filled == 0 { return Finding(nil, confidence: 1, evidence: "the column is empty") }
    if hasLabels, index.isOther(label) || index.isTime(label) {
      return Finding(nil, confidence: 1, evidence: "entries have no such attribute")
    }
    if hasLabels, !profile.label.isEmpty {
      return Finding(nil, confidence: 0.9, evidence: "no attribute has this label, and none has such values")
    }
    return Finding(
      nil, confidence: 0.5, evidence: "the column has no label, and its values may be of several attributes",
      choices: vocabulary.attributes.filter { $0.kind == .text }.map(\.name) + ["ignore it"])
  }

  // MARK: One column and one attribute

  private func match(_ column: Int, _ number: Int) -> Match? {
    let (profile, attribute) = (profiles[column], vocabulary.attributes[number])
    let label = LabelText(profile.label)
    let similarity = hasLabels ? index.similarity(label, toAttribute: number) : 0
    if vocabulary.needsLabels {
      return similarity > 0 ? named(column, number, isEqual: similarity == 1) : nil
    }
    let content = content(profile, attribute)
    if similarity > 0 {
      var score = [1.0: 1.0, 0.7: 0.8][similarity] ?? min(0.95, similarity + 0.05)
      var evidence = "the label says \(attribute.name)"
      if !isPossible(profile, attribute) {
        score *= 0.5
        evidence += ", but its values are of another kind"
      } else if content.score > 0.5 {
        score = min(1, score + 0.05)
        evidence += ", and so do its values"
      }
      return Match(column: column, attribute: number, score: score, evidence: evidence)
    }
    // A known label of something else outweighs the values.
    if hasLabels, index.isOther(label) || index.isTime(label) { return nil }
    guard content.score > 0 else { return nil }
    return Match(column: column, attribute: number, score: content.score, evidence: content.evidence)
  }

  /// A column whose label is an attribute's name, or like it: only the name itself is certain.
  private func named(_ column: Int, _ number: Int, isEqual: Bool) -> Match {
    let (profile, attribute) = (profiles[column], vocabulary.attributes[number])
    var score = profile.label == attribute.name ? 1 : isEqual ? 0.95 : 0.6
    var evidence = isEqual ? "the label says \(attribute.name)" : "the label is like \(attribute.name)"
    if !isPossible(profile, attribute) {
      score *= 0.5
      evidence += ", but its values are of another kind"
    }
    return Match(column: column, attribute: number, score: score, evidence: evidence)
  }

  private func isPossible(_ profile: ColumnProfile, _ attribute: AttributeVocabulary.Attribute) -> Bool {
    if profile.filled == 0 { return true }
    return switch attribute.kind {
    case .date: true
    case .whole: profile.share([.whole]) >= 0.5
    case .decimal: profile.share([.whole, .decimal]) >= 0.5
    case .boolean: profile.share([.boolean, .whole]) >= 0.5
    case .text: vocabulary.needsLabels || profile.share([.date, .dateTime]) < 0.8
    }
  }

  private func content(
    _ profile: ColumnProfile, _ attribute: AttributeVocabulary.Attribute
  ) -> (score: Double, evidence: String) {
    guard profile.filled > 0 else { return (0, "") }
    switch attribute.kind {
    case .date:
      guard profile.share([.date, .dateTime]) >= 0.8 else { return (0, "") }
      let others = profiles.count { $0.filled > 0 && $0.share([.date, .dateTime]) >= 0.8 }
      return others == 1 ? (0.85, "it is the only column of dates") : (0.5, "it is one of \(others) columns of dates")
    case .whole, .decimal:
      guard let range = attribute.range, profile.share([.whole]) >= 0.95, profile.texts.count <= 30 else {
        return (0, "")
      }
      let inside = profile.texts.allSatisfy { range.contains(Double($0.key) ?? .nan) }
      return inside && profile.filled >= 4
        ? (0.6, "its values are whole numbers from \(Int(range.lowerBound)) to \(Int(range.upperBound))") : (0, "")
    case .boolean: return (0, "")
    case .text: return textContent(profile, attribute)
    }
  }

  /// Units and words that values of the attribute have.
  private func textContent(
    _ profile: ColumnProfile, _ attribute: AttributeVocabulary.Attribute
  ) -> (score: Double, evidence: String) {
    let units = Set(attribute.units.map { $0.lowercased() })
    let withUnit = profile.units.filter { units.contains($0.key) }.values.reduce(0, +)
    let words = attribute.words.map { $0.lowercased() }
    let withWord = profile.texts.reduce(0) { sum, pair in
      let text = pair.key.lowercased()
      return words.contains { text == $0 || text.contains($0 + " ") || text.contains(" " + $0) }
        ? sum + pair.value : sum
    }
    let share = Double(withUnit + withWord) / Double(profile.filled)
    guard share >= 0.3 else { return (0, "") }
    return (
      min(0.8, 0.55 + share * 0.3),
      "\(withUnit + withWord) of \(profile.filled) values have units or words of \(attribute.name)"
    )
  }
}
