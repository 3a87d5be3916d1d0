import OpenCoreData

/// The values that records of JSON Lines do not state, because a member is missing: an update leaves the stored value
/// as it is. Empty for CSV.
struct AbsentValues: Sendable {
  /// Stands for a relationship, which has no slot.
  static func slot(ofLink link: Int, _ entity: NSEntityDescription) -> Int { entity.attributeSlots.count + link }

  /// By row, and for each row by slot.
  private var values: [(row: Int32, slot: Int32)] = []

  var isEmpty: Bool { values.isEmpty }

  /// Adds a value of the last row, or of a later one.
  mutating func append(row: Int, slot: Int) {
    values.append((Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: slot)))
  }

  /// The slots without a value of a row.
  func slots(ofRow row: Int) -> [Int] {
    if values.isEmpty { return [] }
    var (low, high) = (0, values.count)
    while low < high {
      let middle = (low + high) / 2
      if values[middle].row < row { low = middle + 1 } else { high = middle }
    }
    return values[low...].prefix { $0.row == row }.map { Int($0.slot) }
  }

  /// The values of these ascending rows, which are numbered from 0.
  func ofRows(_ rows: [Int]) -> AbsentValues {
    if values.isEmpty { return self }
    var kept = AbsentValues()
    for (number, row) in rows.enumerated() {
      for slot in slots(ofRow: row) { kept.append(row: number, slot: slot) }
    }
    return kept
  }
}
