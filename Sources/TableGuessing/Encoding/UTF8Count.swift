/// How far bytes are UTF-8: the number of characters beyond ASCII, and of bytes that belong to none.
struct UTF8Count {
  private(set) var characters = 0
  private(set) var strayBytes = 0
  private(set) var zeroBytes = 0

  /// Counts. A character that is cut at either end of `bytes` is not counted as stray where `isCut` says so.
  init(_ bytes: [UInt8], isCutAtStart: Bool = false, isCutAtEnd: Bool = false) {
    var at = 0
    if isCutAtStart { while at < min(3, bytes.count), bytes[at] & 0xC0 == 0x80 { at += 1 } }
    while at < bytes.count {
      let byte = bytes[at]
      if byte < 0x80 {
        if byte == 0 { zeroBytes += 1 }
        at += 1
        continue
      }
      let length = Self.length(bytes, at: at)
      if length > 0 {
        characters += 1
        at += length
      } else if isCutAtEnd, bytes.count - at < 4, Self.isBeginning(bytes[at...]) {
        break
      } else {
        strayBytes += 1
        at += 1
      }
    }
  }

  mutating func add(_ other: UTF8Count) {
    characters += other.characters
    strayBytes += other.strayBytes
    zeroBytes += other.zeroBytes
  }

  /// The length of the character beyond ASCII at `index`, by table 3-7 of the Unicode standard; 0 if there is none.
  private static func length(_ bytes: [UInt8], at index: Int) -> Int {
    let first = bytes[index]
    let length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0
    guard length > 0, index + length <= bytes.count else { return 0 }
    for offset in 1..<length where bytes[index + offset] & 0xC0 != 0x80 { return 0 }
    let second = bytes[index + 1]
    switch first {
    case 0xE0: return second >= 0xA0 ? 3 : 0
    case 0xED: return second < 0xA0 ? 3 : 0
    case 0xF0: return second >= 0x90 ? 4 : 0
    case 0xF4: return second < 0x90 ? 4 : 0
    default: return length
    }
  }

  private static func isBeginning(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard let first = bytes.first, first >= 0xC2, first < 0xF5 else { return false }
    let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    return bytes.count < length && bytes.dropFirst().allSatisfy { $0 & 0xC0 == 0x80 }
  }
}
