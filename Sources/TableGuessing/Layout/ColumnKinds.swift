/// What most values of each column look like.
struct ColumnKinds: Sendable {
  /// Kinds of values that are written alike.
  enum Family: Sendable, Hashable {
    case number, date, time, boolean, link
  }

  struct Column: Sendable {
    /// The family of most values; nil for texts and for empty columns.
    var family: Family?
    /// Share of records with a value of the family.
    var share = 0.0
    var filled = 0
    /// The texts of the column, for comparison with labels.
    var texts: Set<String> = []
  }

  let columns: [Column]
  let records: Int

  init(_ records: some Collection<SplitRecord>, width: Int) {
    self.records = records.count
    columns = (0..<width).map { index in Self.column(index, records) }
  }

  private static func column(_ index: Int, _ records: some Collection<SplitRecord>) -> Column {
    var column = Column()
    var counts: [Family: Int] = [:]
    var valued = 0
    for record in records where index < record.cells.count {
      let bytes = record.cells[index].bytes.trimmed
      let kind = CellKind(bytes)
      if kind == .empty || kind == .null { continue }
      valued += 1
      column.texts.insert(bytes.text)
      if let family = Self.family(kind) { counts[family, default: 0] += 1 }
    }
    column.filled = valued
    if let most = counts.max(by: { $0.value < $1.value }), most.value * 10 >= valued * 6 {
      column.family = most.key
      column.share = Double(most.value) / Double(max(1, records.count))
    }
    return column
  }

  static func family(_ kind: CellKind) -> Family? {
    switch kind {
    case .whole, .decimal, .quantity: .number
    case .date, .dateTime: .date
    case .time: .time
    case .boolean: .boolean
    case .link: .link
    case .empty, .null, .text: nil
    }
  }

  /// The columns of one family.
  var typed: [Int] { columns.indices.filter { columns[$0].family != nil } }

  /// Columns whose values nearly every record has.
  var reliable: [Int] { typed.filter { columns[$0].share >= 0.85 } }

  /// How a record compares with the columns.
  struct Comparison: Sendable {
    /// Fields of the column's family.
    var matches = 0
    /// Filled fields that are of none, or of another.
    var mismatches = 0
    /// Fields whose text other records have, in columns of texts.
    var repeats = 0
    /// Fields that are numbers or dates.
    var values = 0
  }

  func compare(_ record: SplitRecord) -> Comparison {
    var result = Comparison()
    for (index, cell) in record.cells.prefix(columns.count).enumerated() {
      let bytes = cell.bytes.trimmed
      let kind = CellKind(bytes)
      if kind == .empty || kind == .null { continue }
      let family = Self.family(kind)
      if kind == .date || kind == .dateTime || kind == .time || kind == .decimal { result.values += 1 }
      if let expected = columns[index].family {
        if family == expected { result.matches += 1 } else { result.mismatches += 1 }
      } else if columns[index].texts.contains(bytes.text) {
        result.repeats += 1
      }
    }
    return result
  }
}
