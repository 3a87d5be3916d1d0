/// A non-negative integer of any size, for dates whose seconds exceed 64 bits.
///
/// A finite Double reaches 10^308 seconds, and every stored date must be preserved bit for bit. Ordinary logs do not
/// use it.
struct WideInteger {
  /// Little endian, base 10^9, without leading zero limbs.
  private var limbs: [UInt64]
  private static let base: UInt64 = 1_000_000_000

  init(_ value: UInt64) {
    limbs = []
    var rest = value
    while rest > 0 {
      limbs.append(rest % Self.base)
      rest /= Self.base
    }
  }

  /// `digits` are ASCII digits, validated by the caller.
  init(digits: some BidirectionalCollection<UInt8>) {
    limbs = []
    var end = digits.endIndex
    while end != digits.startIndex {
      let start = digits.index(end, offsetBy: -9, limitedBy: digits.startIndex) ?? digits.startIndex
      limbs.append(digits[start..<end].reduce(0) { $0 * 10 + UInt64($1 &- 48) })
      end = start
    }
    trim()
  }

  /// Decimal digits without leading zeros; `0` for zero.
  var digits: String {
    guard let first = limbs.last else { return "0" }
    return limbs.dropLast().reversed().reduce(into: String(first)) { text, limb in
      let part = String(limb)
      text += String(repeating: "0", count: 9 - part.count) + part
    }
  }

  /// `self = self * factor + addend`; `factor` at most 1.7 · 10^10, so that a limb's product fits in 64 bits.
  mutating func multiply(by factor: UInt64, adding addend: UInt64 = 0) {
    var carry = addend
    for index in limbs.indices {
      let product = limbs[index] * factor + carry
      limbs[index] = product % Self.base
      carry = product / Self.base
    }
    while carry > 0 {
      limbs.append(carry % Self.base)
      carry /= Self.base
    }
    trim()
  }

  /// `self = self / divisor`, returning the remainder; the same bound holds for `divisor`.
  mutating func divide(by divisor: UInt64) -> UInt64 {
    var remainder: UInt64 = 0
    for index in limbs.indices.reversed() {
      let part = remainder * Self.base + limbs[index]
      limbs[index] = part / divisor
      remainder = part % divisor
    }
    trim()
    return remainder
  }

  /// Subtracts `value`, which must not be greater than the integer.
  mutating func subtract(_ value: UInt64) {
    var rest = value
    for index in limbs.indices where rest > 0 {
      let part = rest % Self.base
      rest /= Self.base
      if limbs[index] >= part {
        limbs[index] -= part
      } else {
        limbs[index] += Self.base - part
        rest += 1
      }
    }
    // The caller's mistake: it knows both numbers.
    precondition(rest == 0, "subtract needs a value not greater than the integer itself")
    trim()
  }

  private mutating func trim() {
    while limbs.last == 0 { limbs.removeLast() }
  }
}
