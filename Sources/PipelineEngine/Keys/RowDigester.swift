import OpenCoreData
import PersistentStores

/// The digests of a batch's rows: one of each for every row, or none where nothing is compared.
struct RowDigests: Sendable {
  /// Digests of the pipeline's key; `KeyDigest.none` for a key of nulls only, which never matches.
  var keys: [KeyDigest] = []
  /// For each set of attributes that must be unique; `none` where one of them is null, as in SQL.
  var uniques: [[KeyDigest]] = []
  /// Digests of the values that an update compares.
  var values: [UInt64] = []
  /// The values that decide which of two is newer; null is older than any other.
  var orders: [Double] = []
  /// The values of the pipeline's key; nil where digests are compared only.
  var keyValues: KeyValues?
}

extension KeyDigest {
  /// Represents a key that is not compared.
  static let none = KeyDigest(high: 0, low: 0)
}

/// Digests the attributes by which entries are identified and compared; the same for records and for the store's
/// entries.
struct RowDigester: Sendable, Equatable {
  var keySlots: [Int] = []
  /// Whether the key is the whole record: then one of nulls only is compared, too.
  var isWholeRecord = false
  var uniqueSlots: [[Int]] = []
  var valueSlots: [Int] = []
  var orderSlot: Int?
  /// Whether the values that an update compares include what a record leads to. For entries of the store they are then
  /// not known.
  var comparesLinks = false
  /// Indices of the links that are part of whole records. The digests of the rows are without what they lead to, which is
  /// joined to them where it is looked up.
  var linksOfWhole: [Int] = []
  /// Indices of the links that the input fills, where workers compare keys. They digest what is at the other ends.
  var sharedLinks: [Int] = []
  /// Whether the values of keys are kept with their digests.
  var keepsKeyValues = false

  /// Whether entries have a key.
  var hasKey: Bool { !keySlots.isEmpty || !linksOfWhole.isEmpty }

  /// Whether entries are compared at all: by a key, or by attributes that must be unique.
  var identifiesEntries: Bool { hasKey || !uniqueSlots.isEmpty }

  /// The names of the attributes that are digested.
  func attributes(of entity: NSEntityDescription) -> Set<String> {
    let slots = keySlots + uniqueSlots.joined() + valueSlots + [orderSlot].compactMap { $0 }
    return Set(slots.map { entity.attributeSlots[$0].name })
  }

  func digests(of batch: ObjectBatch) -> RowDigests {
    var digests = RowDigests()
    guard identifiesEntries else { return digests }
    if hasKey {
      digests.keys = Self.digests(of: batch, keySlots) { $0.isAllNull && !isWholeRecord ? .none : $0.digest }
      if keepsKeyValues { digests.keyValues = KeyValues(of: batch, keySlots) }
    }
    digests.uniques = uniqueSlots.map { slots in
      Self.digests(of: batch, slots) { $0.hasNull ? .none : $0.digest }
    }
    if !valueSlots.isEmpty || comparesLinks { digests.values = Self.digests(of: batch, valueSlots) { $0.digest.low } }
    if let orderSlot {
      digests.orders = (0..<batch.count).map { Self.order(batch.cell(row: $0, slot: orderSlot), batch) }
    }
    return digests
  }

  /// The digest of a single value, as of a key that has it alone; `none` for null.
  static func digest(of value: StoredValue) -> KeyDigest {
    var hasher = KeyHasher()
    hasher.begin()
    switch value {
    case .null: return .none
    case .integer(let number): hasher.append(number)
    case .real(let number): hasher.append(number)
    case .text(let text): hasher.append(Array(text.utf8).span)
    case .blob(let data): hasher.append(Array(data).span)
    case .decimal(let number): hasher.append(NumberText.real(Array("\(number)".utf8).span) ?? -.infinity)
    }
    return hasher.digest
  }

  /// One digest for each row, of its values in `slots`.
  private static func digests<Digest>(
    of batch: ObjectBatch, _ slots: [Int], _ digest: (KeyHasher) -> Digest
  ) -> [Digest] {
    // Read from the batch once: each access is a call and retains.
    let (allCells, bytes, slotCount) = (batch.cells, batch.arena, batch.slotCount)
    let (cells, arena) = (allCells.span, bytes.span)
    var digests: [Digest] = []
    digests.reserveCapacity(batch.count)
    var hasher = KeyHasher()
    for row in 0..<batch.count {
      hasher.begin()
      for slot in slots {
        let cell = cells[row &* slotCount &+ slot]
        switch cell.kind {
        case .text, .blob: hasher.append(arena.extracting(cell.range))
        case .integer: hasher.append(cell.integer)
        case .real: hasher.append(cell.real)
        case .decimal: hasher.append(NumberText.real(arena.extracting(cell.range)) ?? -.infinity)
        case .null: hasher.appendNull()
        }
      }
      digests.append(digest(hasher))
    }
    return digests
  }

  private static func order(_ cell: ValueCell, _ batch: ObjectBatch) -> Double {
    switch cell.kind {
    case .integer: Double(cell.integer)
    case .real: cell.real
    case .decimal: real(of: cell, batch)
    case .null, .text, .blob: -.infinity
    }
  }

  /// Different decimals in a store convert to different Doubles.
  private static func real(of cell: ValueCell, _ batch: ObjectBatch) -> Double {
    NumberText.real(batch.bytes(of: cell).span) ?? -.infinity
  }
}
