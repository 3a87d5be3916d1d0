import CSV

@testable import CSV

/// Text in any encoding is what a slow conversion makes of it, in pieces of any size; positions are those of the input.
enum EncodingTarget: FuzzTarget {
  static let name = "encodings"
  private static let names = [
    "utf-16le", "utf-16be", "utf-32le", "utf-32be", "iso-8859-1", "windows-1252", "shift_jis", "iso-2022-jp",
    "gb18030", "big5", "euc-kr", "iso-8859-15", "ibm850", "utf-8",
  ]

  static let seeds: [[UInt8]] = names.indices.map { index in
    let text = "a,b\r\né,\"🌊\n鵠\",x\n"
    let bytes: [UInt8] =
      switch index {
      case 0: text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
      case 1: text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
      case 2:
        text.unicodeScalars.flatMap {
          [UInt8(truncatingIfNeeded: $0.value), UInt8($0.value >> 8 & 255), UInt8($0.value >> 16), 0]
        }
      default: Array(text.utf8)
      }
    return [UInt8(index)] + bytes
  }

  static func run(_ input: inout FuzzInput) {
    guard let encoding = CSVEncoding(named: input.choice(of: names)) else { return }
    var dialect = CSVDialect(hasHeader: false)
    dialect.encoding = encoding
    let bytes = input.rest
    func read(_ size: Int, recordsMax: Int = 1000) -> ReadText? {
      ReadText(bytes, dialect, limits: .quick, readBytes: size, fast: true, recordsMax: recordsMax)
    }
    guard let whole = read(16 << 10) else { return }
    for size in [1, 3, 64] {
      requireEqual(read(size, recordsMax: 2), whole, rule: "pieces of \(size) give the same records in \(encoding)")
    }
    requireEqual(whole.end.byteOffset, bytes.count, rule: "a text in \(encoding) is read to its end")
    if CSVEncoding.byteOrderMarks.contains(where: { bytes.starts(with: $0.bytes) }) { return }
    let text = encoding.utf8(bytes)
    if encoding != .utf8 {
      let read = whole.records.flatMap(\.original).flatMap { (byte: UInt8) -> [UInt8] in
        byte == 0xFF ? Array("\u{FFFD}".utf8) : [byte]
      }
      requireEqual(read, text, rule: "a reader converts as a whole text is converted from \(encoding)")
    }
    if let scalars = PlainDecoding.scalars(bytes, encoding: encoding.name) {
      let found = String(decoding: text, as: UTF8.self).unicodeScalars.map(\.value)
      requireEqual(found, scalars, rule: "text in \(encoding) is what a slow conversion makes of it")
    }
    checkResuming(whole, bytes: bytes, dialect)
  }

  /// Reading on from a record gives the records after it.
  private static func checkResuming(_ whole: ReadText, bytes: [UInt8], _ dialect: CSVDialect) {
    guard whole.records.count > 1 else { return }
    let next = whole.records[1]
    do throws(CSVError) {
      let position = ReaderPosition(record: 2, line: next.line, byteOffset: next.byte)
      let reader = try CSVReader(
        ByteSource(bytes: bytes), dialect: dialect, limits: .quick, readBytes: 16 << 10, usesFastScanner: true)
      try reader.skip(to: position)
      var block = RecordBlock()
      var originals: [UInt8] = []
      while try reader.next(into: &block, recordsMax: 3) {
        for record in block.records { originals += block.originalBytes(of: record) }
      }
      requireEqual(originals, whole.records.dropFirst().flatMap(\.original), rule: "reading on gives the rest")
    } catch {
      broken("reading on in \(dialect.encoding?.name ?? "")", "\(error)")
    }
  }
}
