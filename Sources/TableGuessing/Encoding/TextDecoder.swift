/// Converts bytes of a known encoding to UTF-8. What is malformed becomes U+FFFD.
struct TextDecoder {
  let encoding: TextEncoding

  /// The UTF-8 of `bytes`, without a byte order mark at their start.
  func utf8(_ bytes: [UInt8]) -> [UInt8] {
    let start = TextEncoding.marks.first { $0.encoding == encoding && bytes.starts(with: $0.bytes) }?.bytes.count ?? 0
    switch encoding {
    case .utf8: return start == 0 ? bytes : Array(bytes[start...])
    case .utf16LittleEndian, .utf16BigEndian: return utf16(bytes, from: start)
    case .utf32LittleEndian, .utf32BigEndian: return utf32(bytes, from: start)
    default: return singleBytes(bytes)
    }
  }

  private func utf16(_ bytes: [UInt8], from start: Int) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    var pending: UInt32?
    for index in stride(from: start, to: bytes.count - 1, by: 2) {
      let (first, second) = (UInt32(bytes[index]), UInt32(bytes[index + 1]))
      let unit = encoding == .utf16LittleEndian ? first | second << 8 : first << 8 | second
      if let high = pending {
        pending = nil
        if unit >> 10 == 0x37 {
          Self.append(0x10000 + (high & 0x3FF) << 10 + unit & 0x3FF, to: &output)
          continue
        }
        Self.append(0xFFFD, to: &output)
      }
      if unit >> 10 == 0x36 { pending = unit } else { Self.append(unit, to: &output) }
    }
    return output
  }

  private func utf32(_ bytes: [UInt8], from start: Int) -> [UInt8] {
    var output: [UInt8] = []
    for index in stride(from: start, to: bytes.count - 3, by: 4) {
      let parts = (0..<4).map { UInt32(bytes[index + $0]) }
      let value =
        encoding == .utf32LittleEndian
        ? parts[0] | parts[1] << 8 | parts[2] << 16 | parts[3] << 24
        : parts[0] << 24 | parts[1] << 16 | parts[2] << 8 | parts[3]
      Self.append(value, to: &output)
    }
    return output
  }

  private func singleBytes(_ bytes: [UInt8]) -> [UInt8] {
    guard let table = encoding.upperHalf else { return bytes }
    let texts = table.map { Array(String(Character($0)).utf8) }
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count + bytes.count / 8)
    for byte in bytes {
      if byte < 0x80 { output.append(byte) } else { output += texts[Int(byte) - 0x80] }
    }
    return output
  }

  private static func append(_ value: UInt32, to output: inout [UInt8]) {
    let scalar = Unicode.Scalar(value) ?? "\u{FFFD}"
    if scalar.isASCII {
      output.append(UInt8(truncatingIfNeeded: scalar.value))
    } else {
      output += Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
  }
}
