/// Counts line ends: LF, CR, and CR LF as one.
struct LineCounter {
  private(set) var lines = 0
  private var previous: UInt8 = 0
  private let joinsCRLF: Bool

  /// - Parameter joinsCRLF: Whether CR LF is one line end. It is two where CR ends a record: LF is the next record's then,
  ///   and the lines of records that are counted one by one must be those of all of them together.
  init(joinsCRLF: Bool = true) { self.joinsCRLF = joinsCRLF }

  mutating func take(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      if byte == ASCII.cr || byte == ASCII.lf && !(joinsCRLF && previous == ASCII.cr) { lines += 1 }
      previous = byte
    }
  }
}

extension CSVDialect {
  /// See ``LineCounter``.
  var joinsCRLF: Bool { lineTerminator?.last != ASCII.cr }
}
