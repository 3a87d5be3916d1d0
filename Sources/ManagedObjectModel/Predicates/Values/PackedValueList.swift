import Foundation

/// Many values in one blob, so that a statement with a list of any length binds a single value for it.
///
/// All numbers are little-endian: u32 count · count + 1 × u32 end offset of the previous value (the first is 0),
/// counted from the end of this table · the values, each a tag byte (1 integer, 2 real, 3 text, 4 blob) and its payload
/// (8 bytes, 8 bytes, UTF-8, bytes). An empty value is NULL.
package enum PackedValueList {
  private enum Tag: UInt8 {
    case integer = 1
    case real = 2
    case text = 3
    case blob = 4
  }

  /// - Throws: NSError 134180 (NSSQLiteError) if the values exceed the 4 GB that an offset can address.
  package static func pack(_ values: some Collection<StoredValue>) throws -> Data {
    var table = Data()
    var payload = Data()
    append(UInt32(clamping: values.count), to: &table)
    append(UInt32(0), to: &table)
    for value in values {
      append(value, to: &payload)
      guard let end = UInt32(exactly: payload.count) else { throw tooLong() }
      append(end, to: &table)
    }
    return table + payload
  }

  private static func tooLong() -> NSError {
    NSError(
      domain: NSCocoaErrorDomain, code: 134180,
      userInfo: [
        NSLocalizedDescriptionKey: "The values of an IN list take more than 4 GB. Fetch in several parts."
      ])
  }

  package static func value(at index: Int64, in list: Span<UInt8>) -> StoredValue? {
    guard list.count >= 4 else { return nil }
    let count = Int64(integer(UInt32.self, in: list, at: 0))
    guard index >= 0, index < count, list.count >= 8 + 4 * Int(count) else { return nil }
    let base = 8 + 4 * Int(count)
    let start = base + Int(integer(UInt32.self, in: list, at: 4 + 4 * Int(index)))
    let end = base + Int(integer(UInt32.self, in: list, at: 8 + 4 * Int(index)))
    guard start <= end, end <= list.count else { return nil }
    return start == end ? .null : value(in: list.extracting(start..<end))
  }

  private static func value(in bytes: Span<UInt8>) -> StoredValue? {
    let payload = bytes.extracting(droppingFirst: 1)
    switch Tag(rawValue: bytes[0]) {
    case .integer where payload.count == 8:
      return .integer(Int64(bitPattern: integer(UInt64.self, in: payload, at: 0)))
    case .real where payload.count == 8:
      return .real(Double(bitPattern: integer(UInt64.self, in: payload, at: 0)))
    case .text:
      return .text(String(decoding: array(payload), as: UTF8.self))
    case .blob:
      return .blob(Data(array(payload)))
    default:
      return nil
    }
  }

  private static func append(_ value: StoredValue, to data: inout Data) {
    switch value {
    case .null:
      break
    case .integer(let value):
      data.append(Tag.integer.rawValue)
      append(UInt64(bitPattern: value), to: &data)
    case .real(let value):
      data.append(Tag.real.rawValue)
      append(value.bitPattern, to: &data)
    case .decimal(let value):
      append(.real(value.storedReal), to: &data)
    case .text(let value):
      data.append(Tag.text.rawValue)
      data.append(contentsOf: value.utf8)
    case .blob(let value):
      data.append(Tag.blob.rawValue)
      data.append(value)
    }
  }

  private static func append<Number: FixedWidthInteger>(_ value: Number, to data: inout Data) {
    for byte in 0..<Number.bitWidth / 8 {
      data.append(UInt8(truncatingIfNeeded: value >> (8 * byte)))
    }
  }

  private static func integer<Number: FixedWidthInteger>(
    _: Number.Type, in bytes: Span<UInt8>, at start: Int
  ) -> Number {
    var value: Number = 0
    for byte in 0..<Number.bitWidth / 8 {
      value |= Number(truncatingIfNeeded: bytes[start + byte]) << (8 * byte)
    }
    return value
  }

  private static func array(_ bytes: Span<UInt8>) -> [UInt8] {
    [UInt8](capacity: bytes.count) { output in
      for index in bytes.indices { output.append(bytes[index]) }
    }
  }
}
