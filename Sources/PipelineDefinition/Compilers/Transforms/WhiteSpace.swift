/// White space in UTF-8, by Unicode's property White_Space.
extension [UInt8] {
  /// Removes white space at both ends.
  mutating func trimWhiteSpace() {
    var end = count
    while end > 0 {
      let length = whiteSpaceLength(endingAt: end)
      if length == 0 { break }
      end -= length
    }
    removeLast(count - end)
    var start = 0
    while start < end {
      let length = whiteSpaceLength(at: start)
      if length == 0 { break }
      start += length
    }
    if start > 0 { removeFirst(start) }
  }

  /// Replaces each sequence of white space by one space.
  mutating func collapseWhiteSpace() {
    var (from, to) = (0, 0)
    while from < count {
      let length = whiteSpaceLength(at: from)
      if length == 0 {
        self[to] = self[from]
        from += 1
        to += 1
      } else {
        if to == 0 || self[to - 1] != 32 {
          self[to] = 32
          to += 1
        }
        from += length
      }
    }
    removeLast(count - to)
  }

  /// Number of bytes of the white space that begins at `index`; 0 if there is none.
  private func whiteSpaceLength(at index: Int) -> Int {
    let byte = self[index]
    if byte < 0x80 { return byte == 32 || (9...13).contains(byte) ? 1 : 0 }
    func next(_ offset: Int) -> UInt8 { index + offset < count ? self[index + offset] : 0 }
    switch byte {
    case 0xC2: return next(1) == 0x85 || next(1) == 0xA0 ? 2 : 0
    case 0xE1: return next(1) == 0x9A && next(2) == 0x80 ? 3 : 0
    case 0xE2 where next(1) == 0x80:
      return (0x80...0x8A).contains(next(2)) || [0xA8, 0xA9, 0xAF].contains(next(2)) ? 3 : 0
    case 0xE2: return next(1) == 0x81 && next(2) == 0x9F ? 3 : 0
    case 0xE3: return next(1) == 0x80 && next(2) == 0x80 ? 3 : 0
    default: return 0
    }
  }

  private func whiteSpaceLength(endingAt end: Int) -> Int {
    for length in 1...3 where length <= end && whiteSpaceLength(at: end - length) == length { return length }
    return 0
  }
}
