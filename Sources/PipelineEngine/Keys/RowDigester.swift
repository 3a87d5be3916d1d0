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

  func digests(of batch: ObjectBatch) -> RowDigests {
    var digests = RowDigests()
    guard !isIdle else { return digests }
    let rows = 0..<batch.count
    if !keySlots.isEmpty {
      digests.keys = rows.map { row in
        let hasher = Self.hasher(batch, row, keySlots)
        return hasher.isAllNull ? .none : hasher.finish()
      }
    }
    digests.uniques = uniqueSlots.map { slots in
      rows.map { row in
        let isCompared = slots.allSatisfy { batch.cell(row: row, slot: $0).kind != .null }
        return isCompared ? Self.hasher(batch, row, slots).finish() : .none
      }
    }
    if !valueSlots.isEmpty { digests.values = rows.map { Self.hasher(batch, $0, valueSlots).finish().low } }
    if let orderSlot { digests.orders = rows.map { Self.order(batch.cell(row: $0, slot: orderSlot), batch) } }
    return digests
  }

  private static func hasher(_ batch: ObjectBatch, _ row: Int, _ slots: [Int]) -> KeyHasher {
    var hasher = KeyHasher()
    for slot in slots {
      let cell = batch.cell(row: row, slot: slot)
      switch cell.kind {
      case .text, .blob: hasher.append(batch.bytes(of: cell).span)
      case .integer: hasher.append(cell.integer)
      case .real: hasher.append(cell.real)
      case .decimal: hasher.append(real(of: cell, batch))
      case .null: hasher.appendNull()
      }
    }
    return hasher
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
