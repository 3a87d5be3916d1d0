import OpenCoreData

/// The digests of a batch's rows: one of each for every row, or none where nothing is compared.
struct RowDigests: Sendable {
  /// Of the pipeline's key; `KeyDigest.none` for a key of nulls only, which is like no other.
  var keys: [KeyDigest] = []
  /// For each set of attributes that must be unique; `none` where one of them is null, as in SQL.
  var uniques: [[KeyDigest]] = []
  /// Of the values that an update compares.
  var values: [UInt64] = []
  /// What says which of two is newer; null is older than anything.
  var orders: [Double] = []

  mutating func removeRows(_ rows: Set<Int>) {
    keys = Self.without(rows, keys)
    uniques = uniques.map { Self.without(rows, $0) }
    values = Self.without(rows, values)
    orders = Self.without(rows, orders)
  }

  private static func without<Element>(_ rows: Set<Int>, _ all: [Element]) -> [Element] {
    all.isEmpty ? all : all.enumerated().filter { !rows.contains($0.offset) }.map(\.element)
  }
}

extension KeyDigest {
  /// Stands for a key that is not compared.
  static let none = KeyDigest(high: 0, low: 0)
}

/// Says by which attributes entries are told apart and compared, and digests them; the same for records and for what
/// the store has.
struct RowDigester: Sendable, Equatable {
  var keySlots: [Int] = []
  var uniqueSlots: [[Int]] = []
  var valueSlots: [Int] = []
  var orderSlot: Int?

  var isIdle: Bool { keySlots.isEmpty && uniqueSlots.isEmpty }

  /// The names of the attributes that are looked at.
  func attributes(of entity: NSEntityDescription) -> Set<String> {
    let slots = keySlots + uniqueSlots.joined() + valueSlots + [orderSlot].compactMap { $0 }
    return Set(slots.map { entity.attributeSlots[$0].name })
  }

  func digests(of batch: ObjectBatch) -> RowDigests {
    var digests = RowDigests()
    guard !isIdle else { return digests }
    if !keySlots.isEmpty {
      digests.keys = Self.digests(of: batch, keySlots) { $0.isAllNull ? .none : $0.digest }
    }
    digests.uniques = uniqueSlots.map { slots in
      Self.digests(of: batch, slots) { $0.hasNull ? .none : $0.digest }
    }
    if !valueSlots.isEmpty { digests.values = Self.digests(of: batch, valueSlots) { $0.digest.low } }
    if let orderSlot {
      digests.orders = (0..<batch.count).map { Self.order(batch.cell(row: $0, slot: orderSlot), batch) }
    }
    return digests
  }

  /// One digest for each row, of its values in `slots`.
  private static func digests<Digest>(
    of batch: ObjectBatch, _ slots: [Int], _ digest: (KeyHasher) -> Digest
  ) -> [Digest] {
    // Out of the batch once: each access to it is a call, and a count of references.
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

  /// Decimals that a store keeps are as many different Doubles.
  private static func real(of cell: ValueCell, _ batch: ObjectBatch) -> Double {
    NumberText.real(batch.bytes(of: cell).span) ?? -.infinity
  }
}
