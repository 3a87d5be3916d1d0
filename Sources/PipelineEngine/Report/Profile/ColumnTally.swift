import PersistentStores

/// What the entries of a run have in one column: how many values, the least and the greatest, and for the first entries
/// also how often each value occurs.
///
/// Its size is bounded whatever the input contains, and it contains all that is needed to continue counting.
struct ColumnTally: Sendable {
  /// The column's name in the pipeline.
  let name: String
  let attribute: String
  private let type: ColumnType
  private let slot: Int
  private(set) var filled = 0
  private(set) var empty = 0
  private var (leastInteger, greatestInteger) = (Int64.max, Int64.min)
  private var (leastReal, greatestReal) = (Double.infinity, -Double.infinity)
  /// Entries whose values were counted one by one.
  private(set) var counted = 0
  // One of them is set at most. Not an enumeration: extracting its payload to change it would copy the counter's tables.
  private var numbers: NumberCounter?
  private var texts: TextCounter?
  /// What `keptText` has of the counters, once nothing changes it any more.
  private var keptCounts: String?

  /// Entries of a run whose values are counted one by one.
  static let countedMax = 10_000
  /// Different values that are counted.
  static let distinctMax = 50

  init(_ column: ColumnDefinition, _ type: ColumnType, slot: Int) {
    (name, attribute, self.type, self.slot) = (column.name, column.attribute, type, slot)
    switch type {
    case .integer, .real, .single, .date, .boolean: numbers = NumberCounter(distinctMax: Self.distinctMax)
    case .text, .uri, .decimal: texts = TextCounter(distinctMax: Self.distinctMax)
    case .uuid, .binary, .archive: break
    }
  }

  /// The columns of a definition that fill attributes of an entity.
  static func all(_ definition: PipelineDefinition, types: [String: ColumnType], slot: (String) -> Int?)
    -> [ColumnTally]
  {
    definition.columns.compactMap { column in
      guard column.link == nil, let type = types[column.attribute], let slot = slot(column.attribute) else {
        return nil
      }
      return ColumnTally(column, type, slot: slot)
    }
  }

  // MARK: Counting

  mutating func add(_ batch: ObjectBatch, _ rows: some Collection<Int>) {
    let before = filled
    switch type {
    case .integer: addIntegers(batch, rows)
    case .real, .single, .date: addReals(batch, rows)
    default: addOthers(batch, rows)
    }
    empty += rows.count - (filled - before)
    if counted < Self.countedMax { count(batch, rows) }
    if counted >= Self.countedMax, keptCounts == nil { keptCounts = textOfCounts }
  }

  private mutating func addIntegers(_ batch: ObjectBatch, _ rows: some Collection<Int>) {
    let (cells, width, slot) = (batch.cells, batch.slotCount, slot)
    var (count, least, greatest) = (0, leastInteger, greatestInteger)
    for row in rows {
      let cell = cells[row &* width &+ slot]
      guard case .integer = cell.kind else { continue }
      let value = cell.integer
      count &+= 1
      if value < least { least = value }
      if value > greatest { greatest = value }
    }
    (filled, leastInteger, greatestInteger) = (filled + count, least, greatest)
  }

  private mutating func addReals(_ batch: ObjectBatch, _ rows: some Collection<Int>) {
    let (cells, width, slot) = (batch.cells, batch.slotCount, slot)
    var (count, least, greatest) = (0, leastReal, greatestReal)
    for row in rows {
      let cell = cells[row &* width &+ slot]
      guard case .real = cell.kind else { continue }
      let value = cell.real
      count &+= 1
      if value < least { least = value }
      if value > greatest { greatest = value }
    }
    (filled, leastReal, greatestReal) = (filled + count, least, greatest)
  }

  private mutating func addOthers(_ batch: ObjectBatch, _ rows: some Collection<Int>) {
    let (cells, width, slot) = (batch.cells, batch.slotCount, slot)
    var count = 0
    for row in rows {
      if case .null = cells[row &* width &+ slot].kind { continue }
      count &+= 1
    }
    filled += count
  }

  private mutating func count(_ batch: ObjectBatch, _ rows: some Collection<Int>) {
    let (cells, width, arena) = (batch.cells, batch.slotCount, batch.arena)
    let bytes = arena.span
    for row in rows.prefix(Self.countedMax - counted) {
      counted += 1
      let cell = cells[row &* width &+ slot]
      switch cell.kind {
      case .integer: numbers?.add(cell.integer)
      case .real: numbers?.add(Int64(bitPattern: cell.real.bitPattern))
      case .text, .decimal: texts?.add(bytes.extracting(cell.range))
      case .null, .blob: break
      }
    }
  }

  /// This tally with that of another input.
  func merged(with later: ColumnTally) -> ColumnTally {
    var merged = self
    merged.filled += later.filled
    merged.empty += later.empty
    merged.leastInteger = min(leastInteger, later.leastInteger)
    merged.greatestInteger = max(greatestInteger, later.greatestInteger)
    merged.leastReal = min(leastReal, later.leastReal)
    merged.greatestReal = max(greatestReal, later.greatestReal)
    merged.counted += later.counted
    for (number, count) in later.numbers?.all ?? [] { merged.numbers?.add(number, times: count) }
    merged.numbers?.addOther(later.numbers?.other ?? 0)
    for (text, count) in later.texts?.all ?? [] { merged.texts?.add(Array(text.utf8).span, times: count) }
    merged.texts?.addOther(later.texts?.other ?? 0)
    merged.keptCounts = nil
    return merged
  }

  // MARK: Results

  /// Values that a report names.
  private static let frequentMax = 5

  /// The column for a report.
  ///
  /// - Parameter refused: Records that were rejected because of it.
  func column(refused: Int) -> EntryProfile.Column {
    var column = EntryProfile.Column(name: name, filled: filled, empty: empty, refused: refused)
    if case .integer = type, leastInteger <= greatestInteger {
      (column.least, column.greatest) = (String(leastInteger), String(greatestInteger))
    } else if leastReal <= greatestReal {
      (column.least, column.greatest) = (text(of: leastReal), text(of: greatestReal))
    }
    guard numbers != nil || texts != nil, counted > 0 else { return column }
    let other = numbers?.other ?? texts?.other ?? 0
    let values: [EntryProfile.Chart.Count] =
      numbers?.all.map { .init(text(ofNumber: $0.number), $0.count) } ?? texts?.all.map { .init($0.text, $0.count) }
      ?? []
    column.counted = counted
    column.distinct = values.count
    column.hasMoreDistinct = other > 0
    // Values of which each occurs once say nothing.
    column.frequent = values.sorted { ($1.entries, $0.value) < ($0.entries, $1.value) }.prefix(Self.frequentMax)
      .filter { $0.entries > 1 }
    return column
  }

  private func text(ofNumber number: Int64) -> String {
    switch type {
    case .integer: String(number)
    case .boolean: number == 0 ? "false" : "true"
    default: text(of: Double(bitPattern: UInt64(bitPattern: number)))
    }
  }

  private func text(of value: Double) -> String {
    guard type == .date else { return QuantityPattern.plain(value) }
    let text = DateText.iso8601(value) ?? QuantityPattern.plain(value)
    let midnight = "T00:00:00Z"
    return text.hasSuffix(midnight) ? String(text.dropLast(midnight.count)) : text
  }

  // MARK: Checkpoints

  /// As a checkpoint stores it: fast to write, which happens at each of them. Each text is preceded by its length.
  var keptText: String {
    let bounds = [
      Int64(filled), Int64(empty), Int64(counted), leastInteger, greatestInteger,
      Int64(bitPattern: leastReal.bitPattern), Int64(bitPattern: greatestReal.bitPattern),
    ]
    return bounds.map(String.init).joined(separator: " ") + "\n" + (keptCounts ?? textOfCounts)
  }

  private var textOfCounts: String {
    var text = "\(numbers?.other ?? texts?.other ?? 0)\n"
    for (number, count) in numbers?.all ?? [] { text += "\(number) \(count)\n" }
    for (value, count) in texts?.all ?? [] { text += "\(count) \(value.utf8.count):\(value)\n" }
    return text
  }

  /// Continues from `keptText`; false for anything else, and the tally is then of no use.
  mutating func resume(_ kept: String) -> Bool {
    var rest = kept.utf8[...]
    func next(until end: UInt8) -> Substring? {
      guard let index = rest.firstIndex(of: end) else { return nil }
      defer { rest = rest[rest.index(after: index)...] }
      return Substring(rest[..<index])
    }
    let (space, line, colon) = (UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: ":"))
    let bounds = next(until: line)?.split(separator: " ").compactMap { Int64($0) } ?? []
    guard bounds.count == 7, let other = next(until: line).flatMap({ Int($0) }) else { return false }
    (filled, empty, counted) = (Int(bounds[0]), Int(bounds[1]), Int(bounds[2]))
    (leastInteger, greatestInteger) = (bounds[3], bounds[4])
    leastReal = Double(bitPattern: UInt64(bitPattern: bounds[5]))
    greatestReal = Double(bitPattern: UInt64(bitPattern: bounds[6]))
    numbers?.addOther(other)
    texts?.addOther(other)
    while !rest.isEmpty {
      guard let first = next(until: space).flatMap({ Int64($0) }) else { return false }
      if numbers != nil {
        guard let count = next(until: line).flatMap({ Int($0) }) else { return false }
        numbers?.add(first, times: count)
      } else {
        guard let length = next(until: colon).flatMap({ Int($0) }),
          let end = rest.index(rest.startIndex, offsetBy: length, limitedBy: rest.endIndex), end < rest.endIndex
        else { return false }
        texts?.add(Array(rest[..<end]).span, times: Int(first))
        rest = rest[rest.index(after: end)...]
      }
    }
    return true
  }
}
