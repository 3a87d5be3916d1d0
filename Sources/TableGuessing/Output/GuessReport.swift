/// A guess as text: each point with how sure it is and why, and the first entries.
package struct GuessReport: Sendable {
  package let guess: TableGuess

  package init(_ guess: TableGuess) { self.guess = guess }

  package var text: String {
    var text = "\(DefinitionText.comment(guess.name)): \(guess.sampled)\n\n"
    text += table
    if !remarks.isEmpty { text += "\n" + remarks.map { "  \($0)\n" }.joined() }
    if !guess.entries.isEmpty { text += "\nThe first \(guess.entries.count == 1 ? "entry" : "entries"):\n\n" + entries }
    return text
  }

  /// The points that are less sure than a confidence, with the choices, as lines.
  package func refusal(below confidence: Double) -> [String] {
    let points = guess.undecided(below: confidence)
    let lines = points.map { point in
      let choices = point.choices.isEmpty ? "" : "; choose: \(point.choices.joined(separator: " or "))"
      return "  \(point.name) (\(Self.number(point.confidence))): \(DefinitionText.comment(point.evidence))\(choices)"
    }
    let what = counted(points.count, "point")
    let verb = points.count == 1 ? "is" : "are"
    return ["\(DefinitionText.comment(guess.name)): \(what) \(verb) less sure than \(Self.number(confidence)):"] + lines
  }

  /// A confidence with two digits.
  package static func number(_ confidence: Double) -> String {
    let hundredths = Int((confidence * 100).rounded(.down))
    let digits = String(hundredths % 100)
    return "\(hundredths / 100).\(digits.count == 1 ? "0" : "")\(digits)"
  }

  private var table: String {
    let rows = guess.points.map { point in
      [point.name, point.shown, Self.number(point.confidence), point.evidence].map(DefinitionText.comment)
    }
    let widths = (0..<2).map { column in min(28, rows.map { $0[column].count }.max() ?? 0) }
    return rows.map { row in
      let cells = (0..<2).map { Self.padded(row[$0], to: widths[$0]) }
      return "  \(cells[0])  \(cells[1])  \(row[2])  \(row[3])\n"
    }.joined()
  }

  private var remarks: [String] {
    let columns = guess.columns.flatMap { column in column.remarks.map { "\(column.shownLabel): \($0)." } }
    return (columns + guess.remarks).map(DefinitionText.comment)
  }

  private var entries: String {
    let used = guess.attributes.filter { name in guess.columns.contains { $0.attribute.value == name } }
    let width = used.map(\.count).max() ?? 0
    return guess.entries.map { entry in
      used.map { "  \(Self.padded($0, to: width))  \(DefinitionText.comment(entry[$0] ?? "–"))\n" }.joined()
    }.joined(separator: "\n")
  }

  private static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
