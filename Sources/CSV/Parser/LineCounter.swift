/// Counts line ends: LF, CR, and CR LF as one.
struct LineCounter {
  private(set) var lines = 0
  private var previous: UInt8 = 0

  mutating func take(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      if byte == ASCII.cr || (byte == ASCII.lf && previous != ASCII.cr) { lines += 1 }
      previous = byte
    }
  }
}
