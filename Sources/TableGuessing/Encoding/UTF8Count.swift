/// How far bytes are UTF-8: the number of characters beyond ASCII, and of bytes that belong to none.
struct UTF8Count {
  private(set) var characters = 0
  private(set) var strayBytes = 0

  /// Counts. A character that is cut at either end of `bytes` is not counted as stray where `isCut` says so.
  init(_ bytes: [UInt8], isCutAtStart: Bool = false, isCutAtEnd: Bool = false) {
    let cut = isCutAtStart ? bytes.prefix(3).prefix { $0 & 0xC0 == 0x80 }.count : 0
    var input = bytes[cut...].makeIterator()
    var parser = Unicode.UTF8.ForwardParser()
    var at = cut
    while true {
      switch parser.parseScalar(from: &input) {
      case .emptyInput: return
      case .valid(let encoded):
        if encoded.count > 1 { characters += 1 }
        at += encoded.count
      case .error(let length):
        at += length
        if isCutAtEnd, at == bytes.count, Self.needsMore(bytes[(at - length)...]) { return }
        strayBytes += length
      }
    }
  }

  mutating func add(_ other: UTF8Count) {
    characters += other.characters
    strayBytes += other.strayBytes
  }

  /// Whether bytes that end too early begin a character.
  private static func needsMore(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard let first = bytes.first, first >= 0xC2, first < 0xF5 else { return false }
    return bytes.count < (first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4)
  }
}
