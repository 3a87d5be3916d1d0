/// What the values of a column are, counted over the sample.
package struct ColumnProfile: Sendable {
  /// From 0.
  package let index: Int
  package let label: String
  package private(set) var records = 0
  package private(set) var filled = 0
  /// Values that stand for no value, with their numbers.
  package private(set) var nulls: [String: Int] = [:]
  /// Those of them that are in quotes or have blanks around them, as they are: a dialect's texts for no value are bare.
  private(set) var wrappedNulls: Set<String> = []
  /// Values by kind.
  package private(set) var kinds: [CellKind: Int] = [:]
  /// Each text with its number, up to a limit.
  package private(set) var texts: [String: Int] = [:]
  /// Units of quantities, in lower case.
  package private(set) var units: [String: Int] = [:]
  /// The values in the order of the file, up to a limit.
  package private(set) var values: [[UInt8]] = []

  private static let valuesMax = 5000

  init(_ index: Int, label: String, _ records: some Sequence<SplitRecord>) {
    self.index = index
    self.label = label
    for record in records {
      self.records += 1
      guard index < record.cells.count else { continue }
      let cell = record.cells[index]
      let bytes = cell.bytes.trimmed
      if cell.isQuoted || bytes.count < cell.bytes.count, NullWords.isSign(bytes) {
        wrappedNulls.formUnion([cell.bytes.text, bytes.text])
      }
      add(bytes)
    }
  }

  private mutating func add(_ bytes: [UInt8]) {
    let kind = CellKind(bytes)
    if kind == .empty { return }
    let text = bytes.text
    if kind == .null {
      nulls[text, default: 0] += 1
      return
    }
    filled += 1
    kinds[kind, default: 0] += 1
    if texts.count < Self.valuesMax || texts[text] != nil { texts[text, default: 0] += 1 }
    if kind == .quantity, let unit = QuantityForm(bytes)?.unit { units[unit.lowercased(), default: 0] += 1 }
    if values.count < Self.valuesMax { values.append(bytes) }
  }

  /// Share of filled values that are of one of these kinds.
  func share(_ requested: Set<CellKind>) -> Double {
    filled == 0 ? 0 : Double(kinds.reduce(0) { requested.contains($1.key) ? $0 + $1.value : $0 }) / Double(filled)
  }

  /// The kind of most values; text where there is none.
  package var kind: CellKind {
    if share([.date, .dateTime]) >= 0.8 { return kinds[.dateTime] != nil ? .dateTime : .date }
    if share([.time]) >= 0.8 { return .time }
    if share([.whole]) >= 0.9 { return .whole }
    if share([.whole, .decimal]) >= 0.9 { return .decimal }
    if share([.whole, .decimal, .quantity]) >= 0.5, !units.isEmpty { return .quantity }
    if share([.boolean]) >= 0.95, texts.count <= 2 { return .boolean }
    if share([.link]) >= 0.8 { return .link }
    return filled == 0 ? .empty : .text
  }

  /// Whether no text occurs twice.
  var isUnique: Bool { filled == records && texts.count == filled && filled < Self.valuesMax }

  /// The most frequent texts.
  package func frequent(_ limit: Int) -> [(text: String, count: Int)] {
    texts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(limit).map { ($0.key, $0.value) }
  }
}
