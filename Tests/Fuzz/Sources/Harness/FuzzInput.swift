/// The bytes of one execution: choices are taken from the front, and what is left is the text.
struct FuzzInput {
  private var left: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { left = bytes[...] }

  var isEmpty: Bool { left.isEmpty }

  /// What no choice has taken.
  var rest: [UInt8] { Array(left) }

  /// What no choice has taken, as text; bytes that are not UTF-8 become U+FFFD.
  var text: String { String(decoding: left, as: UTF8.self) }

  /// The next byte; 0 at the end.
  mutating func byte() -> UInt8 { left.popFirst() ?? 0 }

  mutating func flag() -> Bool { byte() & 1 == 1 }

  mutating func number(below bound: Int) -> Int { Int(byte()) % bound }

  mutating func choice<Value>(of values: [Value]) -> Value { values[number(below: values.count)] }

  /// Eight bytes as a number.
  mutating func word() -> UInt64 { (0..<8).reduce(0) { word, _ in word << 8 | UInt64(byte()) } }

  /// Up to so many bytes.
  mutating func piece(_ count: Int) -> [UInt8] {
    let piece = Array(left.prefix(count))
    left = left.dropFirst(count)
    return piece
  }
}
