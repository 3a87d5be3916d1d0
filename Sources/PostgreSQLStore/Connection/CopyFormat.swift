import ManagedObjectModel

/// The binary form of COPY (PostgreSQL documentation: COPY, "Binary Format").
enum CopyFormat {
  static let header: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + Array(repeating: 0, count: 8)
  static let trailer: [UInt8] = [0xFF, 0xFF]
}

extension [UInt8] {
  @inline(__always)
  mutating func append(copied number: Int64) {
    append(bigEndian: Int32(8))
    append(bigEndian: number)
  }

  @inline(__always)
  mutating func appendCopiedNull() { append(bigEndian: Int32(-1)) }
}
