import PipelineEngine

extension JournalRecord {
  /// One line per attribute, `–` for no value.
  public var text: String {
    var lines = [("id", id.map(String.init)), ("uri", uri)]
    lines += Self.attributes.map { ($0, self[$0].text.map(RawText.oneLine)) }
    return lines.map { Self.line($0, value: $1 ?? "–") }.joined()
  }

  fileprivate static func line(_ name: String, value: String, sign: String = "") -> String {
    let width = attributes.map(\.count).max() ?? 0
    return sign + name + String(repeating: " ", count: max(0, width - name.count) + 2) + value + "\n"
  }
}

extension JournalEdit.Entry {
  /// The difference, one line per value, with `-` before old and `+` before new values.
  public var difference: String {
    let name = (before?.id ?? after?.id).map { "entry \($0)" } ?? "new entry"
    let lines = JournalRecord.attributes.flatMap { attribute -> [String] in
      let (old, new) = (before?[attribute].text.map(RawText.oneLine), after?[attribute].text.map(RawText.oneLine))
      if before?[attribute] == after?[attribute] {
        return old.map { [JournalRecord.line(attribute, value: $0, sign: "  ")] } ?? []
      }
      let lost = old.map { [JournalRecord.line(attribute, value: $0, sign: "- ")] } ?? []
      return lost + (new.map { [JournalRecord.line(attribute, value: $0, sign: "+ ")] } ?? [])
    }
    return "\(name)\n" + lines.joined()
  }
}
