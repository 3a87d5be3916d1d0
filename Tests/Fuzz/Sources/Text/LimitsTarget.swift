import CSV

@testable import CSV

/// With any limits, headers and pieces, both scanners find the same; reading on from a position gives the rest.
enum LimitsTarget: FuzzTarget {
  static let name = "limits"
  static let seeds = DialectChoice.seeds(DialectChoice.texts).map { [9, 12, 3, 40, 2] + $0 }
  static let words = RecordsTarget.words

  static func run(_ input: inout FuzzInput) {
    var limits = CSVLimits.quick
    limits.fieldBytesMax = 1 + input.number(below: 40)
    limits.recordBytesMax = 1 + input.number(below: 80)
    limits.fieldsMax = 1 + input.number(below: 6)
    limits.blockBytesMax = 1 + input.number(below: 100)
    let recordsMax = 1 + input.number(below: 5)
    let dialect = DialectChoice.take(from: &input)
    let bytes = input.rest
    func read(_ size: Int, fast: Bool, recordsMax: Int = recordsMax) -> ReadText? {
      ReadText(bytes, dialect, limits: limits, readBytes: size, fast: fast, recordsMax: recordsMax)
    }
    guard let whole = read(16 << 10, fast: false) else { return }
    for (size, fast) in [(1, true), (5, false), (64, true), (16 << 10, true)] {
      let found = read(size, fast: fast)
      requireEqual(found, whole, rule: "pieces of \(size) give the same records, fast \(fast)")
      requireEqual(found?.positions, whole.positions, rule: "blocks end at the same records")
    }
    if let position = whole.positions.first, whole.failure == nil {
      checkResuming(at: position, of: bytes, dialect, limits, whole: whole)
    }
  }

  private static func checkResuming(
    at position: ReaderPosition, of bytes: [UInt8], _ dialect: CSVDialect, _ limits: CSVLimits, whole: ReadText
  ) {
    do throws(CSVError) {
      let reader = try CSVReader(
        ByteSource(bytes: bytes), dialect: dialect, limits: limits, readBytes: 16 << 10, usesFastScanner: true)
      if dialect.hasHeader { _ = try reader.readHeader() }
      try reader.skip(to: position)
      var block = RecordBlock()
      var offsets: [Int] = []
      while try reader.next(into: &block, recordsMax: 3) { offsets += block.records.map(\.byteOffset) }
      requireEqual(
        offsets, whole.records.map(\.byte).filter { $0 >= position.byteOffset }, rule: "reading on gives the rest")
      requireEqual(reader.position, whole.end, rule: "reading on ends where reading through ends")
    } catch {
      broken("reading on from a position", "\(error)")
    }
  }
}
