/// Positions of an ordered relationship (`Z_FOK_…`): numbers with gaps, so that an insertion in the middle seldom
/// concerns other rows.
enum OrderPositions {
  static let gap: Int64 = 1024

  /// New positions for rows in their new order, given the present ones.
  ///
  /// As many rows as possible keep theirs: those of a longest ascending sequence. If no numbers are left between two of
  /// them, all rows are numbered anew.
  ///
  /// - Returns: By index, the positions that change.
  static func changes(from present: [Int64?]) -> [Int: Int64] {
    let kept = longestAscending(present)
    var changes: [Int: Int64] = [:]
    var last: (index: Int, position: Int64) = (-1, 0)
    for index in kept + [present.count] {
      let count = Int64(index - last.index - 1)
      if count > 0 {
        let isEnd = index == present.count
        let next = isEnd ? last.position + (count + 1) * gap : present[index] ?? 0
        let step = (next - last.position) / (count + 1)
        guard step > 0 else { return renumbered(present) }
        for number in 1...count { changes[last.index + Int(number)] = last.position + number * step }
      }
      if index < present.count { last = (index, present[index] ?? 0) }
    }
    return changes
  }

  private static func renumbered(_ present: [Int64?]) -> [Int: Int64] {
    var changes: [Int: Int64] = [:]
    for (index, position) in present.enumerated() where position != Int64(index + 1) * gap {
      changes[index] = Int64(index + 1) * gap
    }
    return changes
  }

  /// The indices of a longest strictly ascending sequence of positive positions.
  private static func longestAscending(_ positions: [Int64?]) -> [Int] {
    // By length: the index at which the sequence of that length with the smallest end ends.
    var ends: [Int] = []
    var previous: [Int?] = Array(repeating: nil, count: positions.count)
    for (index, position) in positions.enumerated() {
      guard let position, position > 0 else { continue }
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if (positions[ends[middle]] ?? 0) < position { low = middle + 1 } else { high = middle }
      }
      previous[index] = low > 0 ? ends[low - 1] : nil
      if low < ends.count { ends[low] = index } else { ends.append(index) }
    }
    var result: [Int] = []
    var next = ends.last
    while let index = next {
      result.append(index)
      next = previous[index]
    }
    return result.reversed()
  }
}
