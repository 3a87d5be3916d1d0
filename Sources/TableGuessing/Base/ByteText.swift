/// Bytes of a text in UTF-8, and what the sniffers ask of them.
extension UInt8 {
  @inline(__always) var isDigit: Bool { self &- 48 < 10 }
  @inline(__always) var isLetter: Bool { (self | 0x20) &- 97 < 26 }
  /// Space, tab or a line end.
  @inline(__always) var isBlank: Bool { self == 32 || self &- 9 < 5 }
}

extension [UInt8] {
  /// Without blanks at both ends; a no-break space counts as one.
  var trimmed: [UInt8] {
    var (low, high) = (0, count)
    while low < high {
      if self[low].isBlank {
        low += 1
      } else if low + 1 < high, self[low] == 0xC2, self[low + 1] == 0xA0 {
        low += 2
      } else {
        break
      }
    }
    while high > low {
      if self[high - 1].isBlank {
        high -= 1
      } else if high - 1 > low, self[high - 2] == 0xC2, self[high - 1] == 0xA0 {
        high -= 2
      } else {
        break
      }
    }
    return low == 0 && high == count ? self : Array(self[low..<high])
  }

  var text: String { String(decoding: self, as: UTF8.self) }

  /// Whether `other` begins at `index`.
  @inline(__always)
  func has(_ other: [UInt8], at index: Int) -> Bool {
    guard index + other.count <= count else { return false }
    for offset in 0..<other.count where self[index + offset] != other[offset] { return false }
    return true
  }
}
