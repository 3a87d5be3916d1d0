import OpenCoreData

/// Finds for each entry of the new side that of the old one, by digests of their keys, or of whole records.
///
/// The old side is added first, then the new one, then the old one again: only then is it known which of its entries the
/// new side lacks, and which values differ. A key takes up to 100 bytes; beyond `keysInMemoryMax` they move to a
/// temporary database.
struct EntryPairing {
  private let columns: ComparedColumns
  private let keys: KeyIndex
  private let spool: DifferenceSpool
  private(set) var counts = ComparisonCounts()
  /// A sum over the entries of each side, equal for equal ones in any order.
  private var (oldSum, newSum): (UInt64, UInt64) = (0, 0)

  init(_ columns: ComparedColumns, keysInMemoryMax: Int, spool: DifferenceSpool) {
    self.columns = columns
    self.spool = spool
    keys = KeyIndex(keysInMemoryMax: keysInMemoryMax, keepsOrders: true)
  }

  /// What is known about a key; stored in the fields of a `KeyEntry`.
  private struct Mark {
    static let matched = 1
    static let oldTwice = 2
    static let newTwice = 4
    static let changed = 8

    /// The number of the old entry; -1 if there is none.
    var old: Int64
    /// The digest of the old entry's values until it is matched, then the number of the new entry.
    var content: UInt64
    /// The line of the new entry.
    var line: Int64 = 0
    var flags = 0

    init(old: Int64, content: UInt64) { (self.old, self.content) = (old, content) }

    /// A line and the flags together are exact in a Double up to line 2^49.
    init(_ entry: KeyEntry) {
      (old, content) = (entry.storeKey, entry.values)
      let packed = Int64(entry.order)
      (line, flags) = (packed >> 4, Int(packed & 15))
    }

    var entry: KeyEntry { KeyEntry(storeKey: old, values: content, order: Double(line << 4 | Int64(flags))) }

    func has(_ flag: Int) -> Bool { flags & flag != 0 }
  }

  private func eachKey(
    of rows: ComparedRows, _ body: (_ row: Int, _ key: KeyDigest, _ values: UInt64) throws -> Void
  ) throws {
    let digests = columns.digester.digests(of: rows.batch)
    // A record without any value is one like others, a key without any value is none.
    let all = columns.hasKey ? digests.keys : digests.keys.map { $0 == .none ? KeyDigest(high: 1, low: 0) : $0 }
    try keys.beginChunk(all)
    for row in 0..<rows.batch.count {
      keys.approach(row, of: all)
      try body(row, all[row], digests.values.isEmpty ? 0 : digests.values[row])
    }
    try keys.endChunk()
  }

  // MARK: The old side, first time

  mutating func addOld(_ rows: ComparedRows) throws {
    counts.old += rows.batch.count
    let hasKey = columns.hasKey
    try eachKey(of: rows) { row, key, values in
      oldSum &+= Self.digest(key, values)
      if key == .none { return }
      guard let known = keys.entry(of: key) else {
        // Without a key the entry counts equal records.
        let mark = hasKey ? Mark(old: rows.numbers[row], content: values).entry : KeyEntry(storeKey: 1, values: 1)
        return keys.set(key, mark, before: nil)
      }
      if hasKey {
        var mark = Mark(known)
        mark.flags |= Mark.oldTwice
        keys.set(key, mark.entry, before: known)
      } else {
        keys.set(key, KeyEntry(storeKey: 1, values: known.values + 1), before: known)
      }
    }
  }

  // MARK: The new side

  mutating func addNew(_ rows: ComparedRows) throws {
    counts.new += rows.batch.count
    var items: [DifferenceSpool.Item] = []
    let hasKey = columns.hasKey
    try eachKey(of: rows) { row, key, values in
      newSum &+= Self.digest(key, values)
      if hasKey {
        compare(row, of: rows, key: key, values: values, items: &items)
      } else if let known = keys.entry(of: key), known.order < Double(known.values) {
        keys.set(key, KeyEntry(storeKey: 1, values: known.values, order: known.order + 1), before: known)
      } else {
        items.append(.init(kind: .added, entry: rows.entry(row, columns.texts)))
      }
    }
    try spool.addNew(items)
  }

  private func compare(
    _ row: Int, of rows: ComparedRows, key: KeyDigest, values: UInt64, items: inout [DifferenceSpool.Item]
  ) {
    func add(_ kind: Difference.Kind, old: Int64? = nil) {
      let absent = old == nil ? [] : columns.absent(row, of: rows)
      items.append(.init(kind: kind, entry: rows.entry(row, columns.texts), old: old, absent: absent))
    }
    if key == .none { return add(.added) }
    let known = keys.entry(of: key)
    var mark = known.map(Mark.init) ?? Mark(old: -1, content: 0)
    if mark.has(Mark.matched) {
      if !mark.has(Mark.newTwice), !mark.has(Mark.oldTwice) {
        // The first record with this key was paired already; now it is reported as a duplicate.
        let values = columns.texts.texts(row: row, of: rows.batch)
        items.append(
          .init(kind: .duplicate, entry: .init(number: Int64(mark.content), line: mark.line, values: values)))
      }
      mark.flags = (mark.flags | Mark.newTwice) & ~Mark.changed
      add(.duplicate)
    } else {
      if known == nil {
        add(.added)
      } else if mark.has(Mark.oldTwice) {
        add(.duplicate)
      } else if mark.content != values {
        add(.changed, old: mark.old)
        mark.flags |= Mark.changed
      }
      (mark.content, mark.line) = (UInt64(rows.numbers[row]), rows.lines[row])
      mark.flags |= Mark.matched
    }
    keys.set(key, mark.entry, before: known)
  }

  // MARK: The old side, second time

  /// - Throws: ``ChangedMeanwhile`` for an entry that was not there the first time.
  mutating func addOldAgain(_ rows: ComparedRows) throws {
    var items: [DifferenceSpool.Item] = []
    let hasKey = columns.hasKey
    try eachKey(of: rows) { row, key, _ in
      var kind: Difference.Kind?
      if key == .none {
        kind = .missing
      } else {
        guard let known = keys.entry(of: key) else { throw ChangedMeanwhile() }
        if hasKey {
          kind = Self.kind(Mark(known))
        } else if known.order > 0 {
          keys.set(key, KeyEntry(storeKey: 1, values: known.values, order: known.order - 1), before: known)
        } else {
          kind = .missing
        }
      }
      if let kind { items.append(.init(kind: kind, entry: rows.entry(row, columns.texts))) }
    }
    try spool.addOld(items)
  }

  private static func kind(_ mark: Mark) -> Difference.Kind? {
    if mark.has(Mark.oldTwice) || mark.has(Mark.newTwice) { return .duplicate }
    if !mark.has(Mark.matched) { return .missing }
    return mark.has(Mark.changed) ? .changed : nil
  }

  /// The old side has other entries than when it was read first.
  struct ChangedMeanwhile: Error {}

  /// One number of a key and values: their bits are mixed by multiplication, so that sums of different entries differ.
  private static func digest(_ key: KeyDigest, _ values: UInt64) -> UInt64 {
    func mixed(_ value: UInt64) -> UInt64 { (value ^ value >> 29) &* 0xBF58_476D_1CE4_E5B9 }
    let sum = mixed(mixed(values) &+ key.low)
    return sum ^ sum >> 32
  }

  mutating func finish() throws -> ComparisonCounts {
    counts.isSame = counts.old == counts.new && oldSum == newSum
    try spool.fillAbsent()
    counts.added = try spool.count(.added, ofNew: true)
    counts.changed = try spool.count(.changed, ofNew: true)
    counts.duplicatesNew = try spool.count(.duplicate, ofNew: true)
    counts.duplicatesOld = try spool.count(.duplicate, ofNew: false)
    counts.missing = try spool.count(.missing, ofNew: false)
    return counts
  }
}
