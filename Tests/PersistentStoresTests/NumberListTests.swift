@testable import PersistentStores
import Testing

@Suite("Lists of numbers that follow each other")
struct NumberListTests {
  @Test(
    arguments: [
      [], [7], [7, 7, 7, 7], [1, 2, 3, 4, 9, 10, 11, 12], [5, 5, 5, 6, 7, 8, 8, 8, 8, 8], [3, 1, 4, 1, 5, 9, 2, 6],
      [.max - 1, .max, .min, .min + 1, .min + 2], [0, 2, 4, 6, 8, 10], Array(1...1000) + Array(1...1000),
      (0..<500).map { $0 * $0 * 977 % 100_003 - 50_000 }, (0..<100).map { $0 % 2 == 0 ? .min + $0 : .max - $0 },
    ] as [[Int64]])
  func `They have the numbers of the array`(_ numbers: [Int64]) {
    let list = NumberList(numbers)
    #expect(Array(list) == numbers && list.count == numbers.count)
    #expect(list.indices.map { list[$0] } == numbers)
    #expect(list.reversed() == numbers.reversed())
  }
}
