import Foundation
import ManagedObjectModel

/// The values of one statement in the binary form of the protocol.
struct PostgreSQLParameters {
  /// The numbers of types in `pg_type`, which are the same in all servers.
  enum TypeNumber {
    static let boolean: UInt32 = 16
    static let bytes: UInt32 = 17
    static let name: UInt32 = 19
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let oid: UInt32 = 26
    static let float4: UInt32 = 700
    static let float8: UInt32 = 701
    static let unknown: UInt32 = 705
    static let varchar: UInt32 = 1043
    static let numeric: UInt32 = 1700
  }

  private(set) var types: [UInt32] = []
  private var bytes: [UInt8] = []
  /// Where each value begins; nil for null.
  private var offsets: [Int?] = []
  private var lengths: [Int32] = []

  init(_ values: [StoredValue]) {
    for value in values { append(value) }
  }

  private mutating func append(_ value: StoredValue) {
    let start = bytes.count
    switch value {
    case .null: return add(0, nil)
    case .integer(let number):
      bytes.append(bigEndian: UInt64(bitPattern: number))
      add(TypeNumber.int8, start)
    case .real(let number):
      if number.isNaN { return add(0, nil) }
      bytes.append(bigEndian: number.bitPattern)
      add(TypeNumber.float8, start)
    case .decimal(let number):
      guard let digits = NumericDigits(number) else { return add(0, nil) }
      digits.append(to: &bytes)
      add(TypeNumber.numeric, start)
    case .text(let text):
      bytes += text.utf8
      add(TypeNumber.text, start)
    case .blob(let data):
      bytes += data
      add(TypeNumber.bytes, start)
    }
  }

  private mutating func add(_ type: UInt32, _ start: Int?) {
    types.append(type)
    offsets.append(start)
    lengths.append(Int32(start.map { bytes.count - $0 } ?? 0))
  }

  /// Calls `body` with the arrays of `PQsendQueryParams`.
  func withPointers(
    _ body: (
      _ count: Int32, UnsafePointer<UInt32>?, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?,
      UnsafePointer<Int32>?
    ) -> Int32
  ) -> Int32 {
    guard !types.isEmpty else { return body(0, nil, nil, nil, nil) }
    let formats = [Int32](repeating: 1, count: types.count)
    // One byte more, so that there is an address for an empty text at the end.
    return (bytes + [0]).withUnsafeBytes { raw in
      let base = raw.bindMemory(to: CChar.self).baseAddress
      let pointers: [UnsafePointer<CChar>?] = offsets.map { offset in
        guard let offset, let base else { return nil }
        return base + offset
      }
      return body(Int32(types.count), types, pointers, lengths, formats)
    }
  }
}

extension [UInt8] {
  @inline(__always)
  mutating func append<Number: FixedWidthInteger>(bigEndian number: Number) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }
}
