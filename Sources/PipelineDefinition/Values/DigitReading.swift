/// Reading numbers from bytes at an index, shared by the date and quantity readers.
extension Span<UInt8> {
  /// The two digits at `index` as 0…99; `nil` if there are no two digits.
  @inline(__always)
  func twoDigits(at index: Int) -> Int? {
    guard index + 2 <= count else { return nil }
    let tens = self[index] &- 48
    let ones = self[index + 1] &- 48
    guard tens < 10, ones < 10 else { return nil }
    return Int(tens) * 10 + Int(ones)
  }

  /// The four digits at `index` as 0…9999.
  @inline(__always)
  func fourDigits(at index: Int) -> Int? {
    guard let high = twoDigits(at: index), let low = twoDigits(at: index + 2) else { return nil }
    return high * 100 + low
  }

  /// The end of the digits that begin at `index`.
  @inline(__always)
  func digitsEnd(from index: Int) -> Int {
    var end = index
    while end < count, self[end] &- 48 < 10 { end += 1 }
    return end
  }

  @inline(__always)
  func has(_ byte: UInt8, at index: Int) -> Bool {
    index < count && self[index] == byte
  }

  /// The range without ASCII spaces and tabs at both ends.
  @inline(__always)
  package var trimmedRange: Range<Int> {
    var lower = 0
    var upper = count
    while lower < upper, self[lower] == 32 || self[lower] == 9 { lower += 1 }
    while upper > lower, self[upper - 1] == 32 || self[upper - 1] == 9 { upper -= 1 }
    return lower..<upper
  }

  /// Whether the bytes equal `text`, ignoring ASCII letter case if `text` is in lower case.
  func equalsIgnoringCase(_ text: [UInt8], from index: Int) -> Bool {
    guard count - index == text.count else { return false }
    for offset in text.indices {
      let byte = self[index + offset]
      let lower = byte &- 65 < 26 ? byte | 0x20 : byte
      if lower != text[offset] { return false }
    }
    return true
  }
}
