import PipelineEngine

extension JournalRecord {
  /// One line per attribute and for each of the objects at the other ends that were read, `–` for no value.
  public var text: String {
    let head = entity == nil ? [("id", id.map(String.init)), ("uri", uri)] : [("uri", uri)]
    let lines =
      head.map { ($0, [$1 ?? "–"]) } + names.map { ($0, [self[$0].shortText ?? "–"]) }
      + links.map { ($0.name, $0.texts) }
    let width = lines.map(\.0.count).max() ?? 0
    return (entity == nil ? "" : title + "\n")
      + lines.flatMap { name, texts in
        texts.enumerated().map { Self.line($0 == 0 ? name : "", value: $1, width: width) }
      }.joined()
  }

  fileprivate static func line(_ name: String, value: String, sign: String = "", width: Int) -> String {
    sign + name + String(repeating: " ", count: max(0, width - name.count) + 2) + value + "\n"
  }

  /// The values on lines, attributes first.
  fileprivate var lines: [String: String] {
    var lines: [String: String] = [:]
    for name in names { lines[name] = self[name].shortText }
    for link in links where !link.objects.isEmpty { lines[link.name] = link.texts.joined(separator: ", ") }
    return lines
  }
}

extension JournalRecord {
  /// The objects that a relationship leads to, in one line; empty if there are none.
  func linkText(_ relationship: String) -> String {
    let link = links.first { $0.name == relationship }
    return link?.objects.map(\.text).joined(separator: ", ") ?? ""
  }
}

extension RecordLink {
  private static let objectsShownMax = 20

  /// A text for each object, the first ones of many.
  fileprivate var texts: [String] {
    if objects.isEmpty { return ["–"] }
    let shown = objects.prefix(Self.objectsShownMax).map(\.text)
    return objects.count > shown.count ? shown + ["and \(objects.count - shown.count) more"] : shown
  }
}

extension JournalEdit.Entry {
  /// The difference, one line per value, with `-` before old and `+` before new values.
  public var difference: String {
    guard let record = before ?? after else { return "" }
    let names = record.names + (after ?? record).links.map(\.name)
    let width = names.map(\.count).max() ?? 0
    let (old, new) = (before?.lines ?? [:], after?.lines ?? [:])
    let lines = names.flatMap { name -> [String] in
      if before.map({ isEqual($0, after, at: name) }) == true {
        return old[name].map { [JournalRecord.line(name, value: $0, sign: "  ", width: width)] } ?? []
      }
      let lost = old[name].map { [JournalRecord.line(name, value: $0, sign: "- ", width: width)] } ?? []
      return lost + (new[name].map { [JournalRecord.line(name, value: $0, sign: "+ ", width: width)] } ?? [])
    }
    return "\(record.title)\n" + lines.joined()
  }

  private func isEqual(_ before: JournalRecord, _ after: JournalRecord?, at name: String) -> Bool {
    guard let after else { return false }
    return before[name] == after[name]
      && before.links.first { $0.name == name } == after.links.first { $0.name == name }
  }
}
