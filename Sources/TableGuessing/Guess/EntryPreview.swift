import Foundation
import PipelineDefinition

/// The first entries as a run would store them: read by the parsers of the guessed columns.
struct EntryPreview {
  private let columns: [ColumnGuess]
  /// One for each column; nil if the columns can't be compiled, as with a format that only the program knows.
  private let parsers: [FieldParser]?
  private let nulls: Set<String>

  init(_ guess: TableGuess, _ vocabulary: AttributeVocabulary) {
    columns = guess.columns.filter { $0.attribute.value != nil }
    nulls = Set(guess.nullSequences)
    parsers = Self.parsers(of: columns, in: guess, vocabulary)
  }

  func entries(_ records: [SplitRecord], limit: Int) -> [[String: String]] {
    records.prefix(limit).map { record in
      var entry: [String: String] = [:]
      for (index, column) in columns.enumerated() {
        guard let name = column.attribute.value, let text = text(column, record) else { continue }
        entry[name] = parsers.map { Self.shown(text, $0[index]) } ?? text
      }
      return entry
    }
  }

  /// The text of a column in a record, before its transforms; nil for no value.
  private func text(_ column: ColumnGuess, _ record: SplitRecord) -> String? {
    let fields = [column.profile.index] + (column.joined.map { [$0] } ?? [])
    let texts = fields.filter { $0 < record.cells.count }.map { record.cells[$0] }
      .filter { $0.isQuoted || !$0.bytes.isEmpty && !nulls.contains($0.bytes.text) }
    if column.joined == nil { return texts.first?.bytes.text }
    return texts.map(\.text).filter { !$0.isEmpty }.joined(separator: " ")
  }

  private static func shown(_ text: String, _ parser: FieldParser) -> String? {
    var (bytes, spare, faults): ([UInt8], [UInt8], [FieldFault]) = (Array(text.utf8), [], [])
    let value =
      parser.isTransformed
      ? parser.parse(transforming: &bytes, spare: &spare, faults: &faults) : parser.parse(bytes.span, faults: &faults)
    switch value {
    case nil: return "rejected: \"\(text)\""
    case .null?: return nil
    case .integer(let number)?: return parser.type == .boolean ? "\(number != 0)" : "\(number)"
    case .real(let number)?:
      return parser.type == .date ? DateFormat.iso8601.string(number) : QuantityPattern.plain(number)
    case .text?, .encoded?: return bytes.text
    }
  }

  // MARK: Parsers

  private static func parsers(
    of columns: [ColumnGuess], in guess: TableGuess, _ vocabulary: AttributeVocabulary
  ) -> [FieldParser]? {
    let texts = columns.enumerated().map { number, column in
      let attribute = DefinitionText.quoted(column.attribute.value ?? "")
      var members = ["\"name\": \"\(number)\"", "\"attribute\": \(attribute)"]
      if let formats = column.formats, !formats.value.isEmpty {
        members.append("\"formats\": \(DefinitionText.list(formats.value))")
      }
      members.append("\"transforms\": [\(column.transforms.joined(separator: ", "))]")
      members.append("\"rules\": [\(column.rules.joined(separator: ", "))]")
      return "{ \(members.joined(separator: ", ")) }"
    }
    let list = texts.joined(separator: ", ")
    let text = "{ \"name\": \"guess\", \"dialect\": { \(dialect(guess)) }, \"columns\": [\(list)] }"
    let types = Dictionary(
      vocabulary.attributes.map { ($0.name, type($0.kind)) }, uniquingKeysWith: { first, _ in first })
    guard let definition = try? PipelineDefinition(data: Data(text.utf8)),
      let set = try? ColumnSet(definition, types: types)
    else { return nil }
    return (guess.isJSONLines ? set.forJSONLines : set).parsers
  }

  private static func dialect(_ guess: TableGuess) -> String {
    var members = [
      "\"trueValues\": \(DefinitionText.list(guess.trueValues))",
      "\"falseValues\": \(DefinitionText.list(guess.falseValues))",
    ]
    if guess.needsNumberMarks {
      members.append("\"decimalChar\": \(DefinitionText.quoted(guess.numbers.value.decimal))")
      if let group = guess.numbers.value.group { members.append("\"groupChar\": \(DefinitionText.quoted(group))") }
    }
    return members.joined(separator: ", ")
  }

  private static func type(_ kind: AttributeVocabulary.Kind) -> ColumnType {
    switch kind {
    case .date: .date
    case .whole: .integer(.min ... .max)
    case .decimal: .real
    case .boolean: .boolean
    case .text: .text
    }
  }
}
