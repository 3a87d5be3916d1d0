/// Numbers that often follow each other: the keys of rows that were written together, their versions, and their owners
/// where the rows come owner after owner. Stretches of equal or of consecutive numbers take sixteen bytes each, however
/// long they are; a list without such stretches is an array.
package struct NumberList: RandomAccessCollection, Sendable {
  /// Numbers from `start` on: each is by `step`, 0 or 1, greater than the one before.
  private struct Stretch: Sendable {
    let start: Int32
    let step: Int32
    let first: Int64
  }

  private enum Form: Sendable {
    case stretches([Stretch])
    case array([Int64])
  }

  private let form: Form
  package let count: Int
  package var startIndex: Int { 0 }
  package var endIndex: Int { count }

  package init(_ numbers: [Int64]) {
    count = numbers.count
    form = Self.stretches(numbers).map(Form.stretches) ?? .array(numbers)
  }

  /// Nil if an array is not larger.
  private static func stretches(_ numbers: [Int64]) -> [Stretch]? {
    guard numbers.count <= Int32.max else { return nil }
    var stretches: [Stretch] = []
    var index = 0
    while index < numbers.count {
      guard stretches.count < numbers.count / 2 else { return nil }
      let (start, first) = (index, numbers[index])
      index += 1
      guard index < numbers.count, let step = [0, 1].first(where: { numbers[index] == first &+ $0 }) else {
        stretches.append(Stretch(start: Int32(start), step: 0, first: first))
        continue
      }
      while index < numbers.count, numbers[index] == numbers[index - 1] &+ step { index += 1 }
      stretches.append(Stretch(start: Int32(start), step: Int32(step), first: first))
    }
    return stretches
  }

  /// The numbers as an array, for code that goes through all of them.
  package var array: [Int64] {
    switch form {
    case .array(let numbers): return numbers
    case .stretches(let stretches):
      var numbers: [Int64] = []
      numbers.reserveCapacity(count)
      for (index, stretch) in stretches.enumerated() {
        let end = index + 1 < stretches.count ? Int(stretches[index + 1].start) : count
        for offset in 0..<(end - Int(stretch.start)) {
          numbers.append(stretch.first &+ Int64(stretch.step) &* Int64(offset))
        }
      }
      return numbers
    }
  }

  package subscript(position: Int) -> Int64 {
    switch form {
    case .array(let numbers): return numbers[position]
    case .stretches(let stretches):
      // The caller's mistake, as for an array.
      precondition(indices.contains(position), "The position \(position) is not among \(count) numbers.")
      var (low, high) = (0, stretches.count)
      while high - low > 1 {
        let middle = (low + high) / 2
        if Int(stretches[middle].start) <= position { low = middle } else { high = middle }
      }
      let stretch = stretches[low]
      return stretch.first &+ Int64(stretch.step) &* Int64(position - Int(stretch.start))
    }
  }
}
