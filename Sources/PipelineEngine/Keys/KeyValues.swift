import PersistentStores

/// The values of the keys of a batch's rows as bytes: two are the same if and only if the keys are equal. They tell
/// different keys with the same digest apart, where workers of several machines compare keys.
struct KeyValues: Sendable {
  private var bytes: [UInt8] = []
  /// Where the values of each row end.
  private var ends: [Int] = []

  /// The attributes of `slots` of all rows.
  init(of batch: ObjectBatch, _ slots: [Int]) {
    ends.reserveCapacity(batch.count)
    for row in 0..<batch.count {
      for slot in slots { append(batch.cell(row: row, slot: slot), of: batch) }
      ends.append(bytes.count)
    }
  }

  subscript(row: Int) -> ArraySlice<UInt8> { bytes[(row == 0 ? 0 : ends[row - 1])..<ends[row]] }

  /// As `KeyHasher` distinguishes them: 0.0 and -0.0 are one value, and texts are preceded by their lengths.
  private mutating func append(_ cell: ValueCell, of batch: ObjectBatch) {
    switch cell.kind {
    case .null: bytes.append(0)
    case .integer: append(1, UInt64(bitPattern: cell.integer))
    case .real: append(cell.real)
    case .decimal: append(NumberText.real(batch.bytes(of: cell).span) ?? -.infinity)
    case .text, .blob:
      append(3, UInt64(cell.length))
      bytes += batch.bytes(of: cell)
    }
  }

  private mutating func append(_ real: Double) { append(2, real == 0 ? 0 : real.bitPattern) }

  private mutating func append(_ kind: UInt8, _ bits: UInt64) {
    bytes.append(kind)
    for shift in stride(from: UInt64(56), through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: bits >> shift)) }
  }
}
