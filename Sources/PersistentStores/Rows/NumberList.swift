/// Numbers that often follow each other: the keys of rows that were written together, their versions, and their owners
/// where the rows come owner after owner. Stretches of equal or of consecutive numbers take sixteen bytes each, however
/// long they are. A list without such stretches has the differences of its numbers, in a byte or two each.
package struct NumberList: RandomAccessCollection, Sendable {
  /// Numbers from `start` on: each is by `step`, 0 or 1, greater than the one before.
  private struct Stretch: Sendable {
    let start: Int32
    let step: Int32
    let first: Int64
  }

  private enum Form: Sendable {
    case stretches([Stretch])
    case differences(NumberDifferences)
  }

  private let form: Form
  package let count: Int
  package var startIndex: Int { 0 }
  package var endIndex: Int { count }

  package init(_ numbers: [Int64]) {
    count = numbers.count
    form = Self.stretches(numbers).map(Form.stretches) ?? .differences(NumberDifferences(numbers))
  }

  /// Nil if there are too many for their numbers.
  private static func stretches(_ numbers: [Int64]) -> [Stretch]? {
    guard numbers.count <= Int32.max else { return nil }
    var stretches: [Stretch] = []
    var index = 0
    while index < numbers.count {
      guard stretches.count < numbers.count / numbersOfStretchMin else { return nil }
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
  /// A stretch takes as much as the differences of so many numbers, or more.
  private static let numbersOfStretchMin = 8

  /// The numbers as an array, for code that goes through all of them.
  package var array: [Int64] {
    switch form {
    case .differences(let differences): return differences.numbers
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
    // The caller's mistake, as for an array.
    precondition(position >= 0 && position < count, "The position \(position) is not among \(count) numbers.")
    switch form {
    case .differences(let differences): return differences[position]
    case .stretches(let stretches):
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

/// Numbers as the differences between each and the one before: the sign in the lowest bit, in groups of seven bits.
private struct NumberDifferences: Sendable {
  /// A number, and where the differences of those after it begin.
  private struct Mark: Sendable {
    let number: Int64
    let place: Int
  }
  private static let numbersPerMark = 128

  private var bytes: [UInt8] = []
  private var marks: [Mark] = []
  private let count: Int

  init(_ numbers: [Int64]) {
    count = numbers.count
    bytes.reserveCapacity(numbers.count * 2)
    for (index, number) in numbers.enumerated() {
      if index % Self.numbersPerMark == 0 {
        marks.append(Mark(number: number, place: bytes.count))
      } else {
        append(number &- numbers[index - 1])
      }
    }
  }

  private mutating func append(_ difference: Int64) {
    var rest = UInt64(bitPattern: difference << 1 ^ difference >> 63)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Reads a difference, and moves `place` behind it.
  private func difference(at place: inout Int) -> Int64 {
    var (bits, shift) = (UInt64(0), UInt64(0))
    while bytes[place] & 0x80 != 0 {
      bits |= UInt64(bytes[place] & 0x7F) << shift
      shift += 7
      place += 1
    }
    bits |= UInt64(bytes[place]) << shift
    place += 1
    return Int64(bitPattern: bits >> 1) ^ -Int64(bitPattern: bits & 1)
  }

  var numbers: [Int64] {
    var numbers: [Int64] = []
    numbers.reserveCapacity(count)
    for mark in marks {
      var (number, place) = (mark.number, mark.place)
      numbers.append(number)
      for _ in 1..<Swift.min(Self.numbersPerMark, count - numbers.count + 1) {
        number &+= difference(at: &place)
        numbers.append(number)
      }
    }
    return numbers
  }

  subscript(position: Int) -> Int64 {
    let mark = marks[position / Self.numbersPerMark]
    var (number, place) = (mark.number, mark.place)
    for _ in 0..<position % Self.numbersPerMark { number &+= difference(at: &place) }
    return number
  }
}
