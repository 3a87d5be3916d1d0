import Foundation

/// A decimal number in the binary form of PostgreSQL's `numeric`: groups of four digits.
struct NumericDigits {
  private let groups: [UInt16]
  /// The power of 10,000 of the first group.
  private let weight: Int16
  private let isNegative: Bool
  /// How many digits behind the point are shown.
  private let scale: UInt16

  /// Nil for NaN.
  init?(_ number: Decimal) {
    guard !number.isNaN else { return nil }
    var digits = Array(number.description.utf8)
    isNegative = digits.first == UInt8(ascii: "-")
    if isNegative { digits.removeFirst() }
    let point = digits.firstIndex(of: UInt8(ascii: "."))
    var whole = Array(digits[..<(point ?? digits.count)])
    var fraction = point.map { Array(digits[($0 + 1)...]) } ?? []
    scale = UInt16(fraction.count)
    whole = Array(repeating: UInt8(ascii: "0"), count: (4 - whole.count % 4) % 4) + whole
    fraction += Array(repeating: UInt8(ascii: "0"), count: (4 - fraction.count % 4) % 4)
    var all = (whole + fraction).map { UInt16($0 - UInt8(ascii: "0")) }
    var weight = whole.count / 4 - 1
    while all.count >= 4, all[0..<4].allSatisfy({ $0 == 0 }) {
      all.removeFirst(4)
      weight -= 1
    }
    while all.count >= 4, all.suffix(4).allSatisfy({ $0 == 0 }) { all.removeLast(4) }
    groups = stride(from: 0, to: all.count, by: 4).map {
      all[$0] * 1000 + all[$0 + 1] * 100 + all[$0 + 2] * 10 + all[$0 + 3]
    }
    self.weight = groups.isEmpty ? 0 : Int16(weight)
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(bigEndian: UInt16(groups.count))
    bytes.append(bigEndian: weight)
    bytes.append(bigEndian: UInt16(isNegative && !groups.isEmpty ? 0x4000 : 0))
    bytes.append(bigEndian: scale)
    for group in groups { bytes.append(bigEndian: group) }
  }

  /// Nil for bytes that are none, NaN and infinity.
  static func decimal(_ data: Data) -> Decimal? {
    data.withUnsafeBytes { text($0) }.flatMap { Decimal(string: $0) }
  }

  /// The text of a number that the server sent; nil for NaN and infinity.
  static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
    func number(_ index: Int) -> UInt16 { UInt16(bytes[index * 2]) << 8 | UInt16(bytes[index * 2 + 1]) }
    guard bytes.count >= 8, number(2) == 0 || number(2) == 0x4000 else { return nil }
    let (count, weight, scale) = (Int(number(0)), Int(Int16(bitPattern: number(1))), Int(number(3)))
    guard bytes.count >= 8 + 2 * count else { return nil }
    func group(_ power: Int) -> String {
      let index = weight - power
      let digits = String(index >= 0 && index < count ? number(4 + index) : 0)
      return String(repeating: "0", count: 4 - digits.count) + digits
    }
    let whole = weight < 0 ? "0" : (0...weight).reversed().map(group).joined()
    let fraction = scale == 0 ? "" : (1...((scale + 3) / 4)).map { group(-$0) }.joined().prefix(scale)
    let trimmed = String(whole.drop { $0 == "0" })
    return (number(2) == 0 ? "" : "-") + (trimmed.isEmpty ? "0" : trimmed) + (fraction.isEmpty ? "" : ".\(fraction)")
  }
}
