import CPostgreSQL
import Foundation
import ManagedObjectModel
import PersistentStores

/// The rows of one statement, in binary form. It belongs to one thread at a time.
final class PostgreSQLResult {
  private typealias Number = PostgreSQLParameters.TypeNumber

  let rowCount: Int
  private let types: [UInt32]
  private let handle: OpaquePointer
  private let functions: cpq_functions

  /// Takes the result over.
  init(_ handle: OpaquePointer, _ library: PostgreSQLLibrary) {
    self.handle = handle
    functions = library.functions
    rowCount = Int(library.functions.row_count(handle))
    types = (0..<library.functions.column_count(handle)).map { library.functions.column_type(handle, $0) }
  }

  deinit { functions.clear(handle) }

  /// The number of rows that the statement has changed.
  var changedCount: Int { functions.changed_count(handle).flatMap { Int(String(cString: $0)) } ?? 0 }

  /// What the server has carried out, such as `COMMIT`.
  var command: String { functions.command(handle).map { String(cString: $0) } ?? "" }

  var columnCount: Int { types.count }

  @inline(__always)
  func isNull(_ row: Int, _ column: Int) -> Bool { functions.is_null(handle, Int32(row), Int32(column)) != 0 }

  /// The bytes of a value that is not null, valid as long as the result.
  @inline(__always)
  func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: functions.value(handle, Int32(row), Int32(column)),
      count: Int(functions.value_length(handle, Int32(row), Int32(column))))
  }

  /// An integer of any width, or a Boolean; 0 for null.
  @inline(__always)
  func integer(_ row: Int, _ column: Int) -> Int64 {
    if isNull(row, column) { return 0 }
    let bytes = bytes(row, column)
    switch bytes.count {
    case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    case 4: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 2: return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    case 1: return Int64(bytes[0])
    default: return 0
    }
  }

  func value(_ row: Int, _ column: Int) -> StoredValue {
    if isNull(row, column) { return .null }
    let bytes = bytes(row, column)
    switch types[column] {
    case Number.int2, Number.int4, Number.int8, Number.boolean: return .integer(integer(row, column))
    case Number.oid: return .integer(Int64(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))))
    case Number.float8: return .real(Self.real(bytes))
    case Number.float4:
      return .real(Double(Float(bitPattern: UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))))
    case Number.numeric:
      return NumericDigits.text(bytes).flatMap { Decimal(string: $0) }.map(StoredValue.decimal) ?? .null
    case Number.bytes: return .blob(Data(bytes))
    default: return .text(String(decoding: bytes, as: UTF8.self))
    }
  }

  func row(_ row: Int) -> [StoredValue] { (0..<types.count).map { value(row, $0) } }

  var rows: [[StoredValue]] { (0..<rowCount).map(row) }

  /// A value packed as `kind`; the bytes of a text or blob are appended to `arena`.
  @inline(__always)
  func cell(_ row: Int, _ column: Int, kind: ValueCell.Kind, arena: inout [UInt8]) -> ValueCell {
    if isNull(row, column) { return .null }
    switch kind {
    case .integer: return ValueCell(integer: integer(row, column))
    case .real: return ValueCell(real: Self.real(bytes(row, column)))
    case .text, .blob:
      let bytes = bytes(row, column)
      let cell = ValueCell(kind, offset: arena.count, length: bytes.count)
      arena.append(contentsOf: bytes)
      return cell
    case .decimal:
      guard let text = NumericDigits.text(bytes(row, column)) else { return .null }
      let start = arena.count
      arena += text.utf8
      return ValueCell(.decimal, offset: start, length: arena.count - start)
    case .null: return .null
    }
  }

  @inline(__always)
  private static func real(_ bytes: UnsafeRawBufferPointer) -> Double {
    bytes.count == 8 ? Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))) : .nan
  }
}
