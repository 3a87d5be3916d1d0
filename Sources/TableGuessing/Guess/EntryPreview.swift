import PipelineDefinition

/// The first entries as a run would store them.
struct EntryPreview {
  private let columns: [ColumnGuess]
  private let formats: [Int: [DateFormat]]
  private let vocabulary: AttributeVocabulary
  private let nulls: Set<String>

  init(_ columns: [ColumnGuess], _ vocabulary: AttributeVocabulary) {
    self.columns = columns.filter { $0.attribute.value != nil }
    self.vocabulary = vocabulary
    formats = Dictionary(
      uniqueKeysWithValues: columns.compactMap { column in
        column.formats.map { (column.profile.index, $0.value.compactMap { try? DateFormat($0) }) }
      })
    nulls = Set(columns.flatMap { $0.profile.nulls.keys })
  }

  func entries(_ records: [SplitRecord], limit: Int) -> [[String: String]] {
    records.prefix(limit).map { record in
      var entry: [String: String] = [:]
      for column in columns {
        guard let name = column.attribute.value, let value = value(column, record) else { continue }
        entry[name] = value
      }
      return entry
    }
  }

  private func value(_ column: ColumnGuess, _ record: SplitRecord) -> String? {
    let index = column.profile.index
    var text = record.text(index)
    if text.isEmpty || nulls.contains(text) { return nil }
    guard let formats = formats[index] else { return text }
    if let time = column.joined.map(record.text), !time.isEmpty, !nulls.contains(time) { text += " " + time }
    if !column.transforms.isEmpty, let words = MonthNames.words(text) { text = words.numbered }
    let bytes = Array(text.utf8)
    guard let seconds = formats.lazy.compactMap({ $0.seconds(bytes.span) }).first else {
      return "rejected: \"\(text)\""
    }
    return DateFormat.iso8601.string(seconds)
  }
}
