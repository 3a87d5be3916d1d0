extension CSVEncoding {
  /// The byte order marks. UTF-32 first: in little-endian order its mark begins with that of UTF-16.
  package static let byteOrderMarks: [(bytes: [UInt8], encoding: CSVEncoding)] = [
    ([0xFF, 0xFE, 0, 0], .utf32LE), ([0, 0, 0xFE, 0xFF], .utf32BE), (ASCII.byteOrderMark, .utf8),
    ([0xFF, 0xFE], .utf16LE), ([0xFE, 0xFF], .utf16BE),
  ]

  /// The text of `bytes` in UTF-8, without a byte order mark, converted as a reader converts it. U+FFFD stands for
  /// bytes that are not a character; bytes that are declared to be UTF-8 are returned as they are.
  package func utf8(_ bytes: [UInt8]) -> [UInt8] {
    let mark = Self.byteOrderMarks.first { $0.encoding == self && bytes.starts(with: $0.bytes) }
    let body = Array(bytes.dropFirst(mark?.bytes.count ?? 0))
    if form == .utf8 { return body }
    do throws(CSVError) {
      return try converted(body)
    } catch {
      // The C library knew the encoding when it was named; without its table nothing of the text is known.
      return body.flatMap { _ in Self.replacement }
    }
  }

  private static let replacement = Array("\u{FFFD}".utf8)

  private func converted(_ bytes: [UInt8]) throws(CSVError) -> [UInt8] {
    let capacity = 64 << 10
    let nothingMore = try ByteSource(bytes: [])
    let decoder = try bytes.withUnsafeBufferPointer { head throws(CSVError) in
      try TextDecoder(self, head: head, offset: 0, lineEnds: [ASCII.lf, ASCII.cr], readBytes: capacity, failure: nil)
    }
    let target = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    defer { target.deallocate() }
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    while true {
      let count = try decoder.read(into: target, capacity: capacity, from: nothingMore)
      if count == 0 { return output }
      for byte in UnsafeBufferPointer(start: target, count: count) {
        if byte == UnicodeDecoding.invalid { output += Self.replacement } else { output.append(byte) }
      }
      decoder.pass(UnsafeRawBufferPointer(start: target, count: count))
    }
  }
}
