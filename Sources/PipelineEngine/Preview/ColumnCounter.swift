import CSV
import PersistentStores

/// Counts the values of one column, batch by batch, within ``PreviewBounds``.
struct ColumnCounter {
  /// The record with the smallest or greatest value so far.
  struct Extreme {
    /// Orders as the value.
    var order: Int64
    var value: String
    /// Nil for a column beyond ``PreviewBounds/oddColumnsMax``.
    var record: FilePreview.Record?
  }

  private enum Measure {
    /// Numbers and dates.
    case value
    case characters
    case bytes
    case none
  }

  private let column: Int
  private let texts: EntryTexts
  private let measure: Measure
  private(set) var filled = 0
  private(set) var least: Extreme?
  private(set) var greatest: Extreme?
  /// The first record of each of the first different values; nil once there are too many for one to be rare.
  private(set) var firsts: [(value: String, record: FilePreview.Record)]? = []
  // One of them is set. Not an enumeration: extracting its payload to change it would copy the counter's tables.
  private var numbers: NumberCounter?
  private var words: TextCounter?

  init(_ texts: EntryTexts, column: Int, distinctMax: Int) {
    self.texts = texts
    self.column = column
    if column >= PreviewBounds.oddColumnsMax { firsts = nil }
    switch texts.columns[column].type {
    case .integer, .real, .single, .date:
      (measure, numbers) = (.value, NumberCounter(distinctMax: distinctMax))
    case .boolean: (measure, numbers) = (.none, NumberCounter(distinctMax: distinctMax))
    case .decimal: (measure, words) = (.value, TextCounter(distinctMax: distinctMax))
    case .text, .uri: (measure, words) = (.characters, TextCounter(distinctMax: distinctMax))
    case .uuid: (measure, words) = (.none, TextCounter(distinctMax: distinctMax))
    case .binary, .archive: (measure, words) = (.bytes, TextCounter(distinctMax: distinctMax))
    }
  }

  var isMeasuredByLength: Bool { measure == .characters || measure == .bytes }

  /// Counts rows; `record` makes the record of a row that is shown.
  mutating func add(_ batch: ObjectBatch, _ rows: [Int], record: (Int) -> FilePreview.Record) {
    let (slot, arena) = (texts.columns[column].slot, batch.arena)
    var (low, high): ((row: Int, order: Int64)?, (row: Int, order: Int64)?)
    for row in rows {
      let cell = batch.cell(row: row, slot: slot)
      if cell.kind == .null { continue }
      filled += 1
      let before = distinct
      count(cell, in: batch, arena)
      if firsts != nil, distinct > before { noteFirst(row, cell, of: batch, record: record) }
      guard let order = order(of: cell, in: arena) else { continue }
      if order < low?.order ?? least?.order ?? .max { low = (row, order) }
      if order > high?.order ?? greatest?.order ?? .min { high = (row, order) }
    }
    func extreme(_ found: (row: Int, order: Int64)) -> Extreme {
      let value = texts.text(column, row: found.row, of: batch) ?? ""
      let shown = column < PreviewBounds.oddColumnsMax ? record(found.row) : nil
      return Extreme(order: found.order, value: value, record: shown)
    }
    if let low { least = extreme(low) }
    if let high { greatest = extreme(high) }
  }

  private mutating func noteFirst(
    _ row: Int, _ cell: ValueCell, of batch: ObjectBatch, record: (Int) -> FilePreview.Record
  ) {
    guard distinct <= PreviewBounds.rareDistinctMax else {
      firsts = nil
      return
    }
    let value = counted(cell, in: batch)
    firsts?.append((value, record(row)))
  }

  // MARK: Counting

  private mutating func count(_ cell: ValueCell, in batch: ObjectBatch, _ arena: [UInt8]) {
    switch cell.kind {
    case .null: break
    case .integer: numbers?.add(cell.integer)
    // 0.0 and -0.0 are one value.
    case .real: numbers?.add(Int64(bitPattern: (cell.real == 0 ? 0 : cell.real).bitPattern))
    case .text where cell.length <= PreviewBounds.textBytesMax: words?.add(arena.span.extracting(cell.range))
    case .text, .blob, .decimal:
      let text = Array(counted(cell, in: batch).utf8)
      words?.add(text.span)
    }
  }

  /// The text under which a value is counted: a long one is replaced by its beginning and its digest.
  private func counted(_ cell: ValueCell, in batch: ObjectBatch) -> String {
    let text = texts.text(column, of: cell, in: batch) ?? ""
    guard words != nil, text.utf8.count > PreviewBounds.textBytesMax else { return text }
    let hash = ContentHash()
    hash.update(Array(text.utf8))
    return "\(text.prefix(30))… (\(text.utf8.count) bytes, xxh128 \(hash.digest.hex))"
  }

  private func order(of cell: ValueCell, in arena: [UInt8]) -> Int64? {
    switch (measure, cell.kind) {
    case (.value, .integer): return cell.integer
    case (.value, .real): return Self.order(cell.real)
    case (.value, .decimal): return NumberText.real(arena.span.extracting(cell.range)).map(Self.order)
    case (.characters, _):
      let bytes = arena.span.extracting(cell.range)
      var characters: Int64 = 0
      // Bytes that continue a character begin with 10.
      for index in bytes.indices where bytes[index] & 0xC0 != 0x80 { characters += 1 }
      return characters
    case (.bytes, _): return Int64(cell.length)
    default: return nil
    }
  }

  /// Whole numbers in the order of the doubles.
  private static func order(_ number: Double) -> Int64 {
    let bits = Int64(bitPattern: (number == 0 ? 0 : number).bitPattern)
    return bits >= 0 ? bits : bits ^ .max
  }

  // MARK: Results

  var distinct: Int { numbers?.distinct ?? words?.distinct ?? 0 }
  private var other: Int { numbers?.other ?? words?.other ?? 0 }
  var distinctIsExact: Bool { other == 0 }

  /// Every counted value, the most frequent first.
  func counts(_ batch: ObjectBatch) -> [FilePreview.Count] {
    let isReal = texts.columns[column].type.isReal
    let all =
      words?.all.map { FilePreview.Count(value: $0.text, count: $0.count) }
      ?? numbers?.all.map { number, count in
        let cell = isReal ? ValueCell(real: Double(bitPattern: UInt64(bitPattern: number))) : ValueCell(integer: number)
        return FilePreview.Count(value: texts.text(column, of: cell, in: batch) ?? "", count: count)
      } ?? []
    return all.sorted { ($1.count, $0.value) < ($0.count, $1.value) }
  }

  /// The records that are the only ones with their value, where values repeat otherwise.
  func rare(_ counts: [FilePreview.Count]) -> [(value: String, record: FilePreview.Record)] {
    guard let firsts, distinct > 1, filled >= distinct * PreviewBounds.rareRecordsPerValue else { return [] }
    let once = Set(counts.filter { $0.count == 1 }.map { Array($0.value.utf8) })
    return firsts.filter { once.contains(Array($0.value.utf8)) }
  }
}

extension ColumnType {
  /// Whether values are stored as floating-point numbers.
  fileprivate var isReal: Bool {
    switch self {
    case .real, .single, .date: true
    case .text, .integer, .decimal, .boolean, .uuid, .uri, .binary, .archive: false
    }
  }
}
