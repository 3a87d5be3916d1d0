import Foundation
import ManagedObjectModel

/// Entries as they were before an import updated them: their keys, their versions, and the values of the attributes that
/// the import may change.
struct OverwrittenEntries: Sendable {
  struct Entry: Sendable {
    let key: Int64
    /// The number by which the store counts an entry's changes, before the update.
    let version: Int64
    /// In the order of `attributes`.
    let values: [StoredValue]
  }

  /// The names of the attributes whose values are kept.
  let attributes: [String]
  /// The name of the entity of related objects; nil for the entries of the input.
  let entity: String?
  private(set) var entries: [Entry] = []

  var count: Int { entries.count }

  init(attributes: [String] = [], of entity: String? = nil) { (self.attributes, self.entity) = (attributes, entity) }

  mutating func append(_ entry: Entry) { entries.append(entry) }

  // MARK: Encoding

  /// Begins the name of an entity, which precedes those of the attributes.
  private static let entityMark = "@"

  /// The names and the entries as bytes. Integers are little-endian; texts and blobs follow their length.
  var encoded: Data {
    var bytes = PackedBytes()
    let names = (entity.map { [Self.entityMark + $0] } ?? []) + attributes
    bytes.append(Int64(names.count))
    for name in names { bytes.append(Array(name.utf8)) }
    for entry in entries {
      bytes.append(entry.key)
      bytes.append(entry.version)
      for value in entry.values { bytes.append(value) }
    }
    return Data(bytes.all)
  }

  /// The bytes that begin with the entity, if there is one.
  static let headBytes = 1024

  /// The entity of related objects that the first bytes of `encoded` name; nil for the entries of the input.
  static func entity(ofHead head: Data) -> String? {
    var bytes = PackedBytes(Array(head))
    guard bytes.nextInteger() != nil, let name = bytes.nextBytes() else { return nil }
    return entity(named: String(decoding: name, as: UTF8.self))
  }

  private static func entity(named name: String) -> String? {
    name.hasPrefix(entityMark) ? String(name.dropFirst()) : nil
  }

  /// From `encoded`; nil for bytes that are damaged.
  init?(encoded: Data) {
    var bytes = PackedBytes(Array(encoded))
    guard let count = bytes.nextInteger(), (0...100_000).contains(count) else { return nil }
    var names: [String] = []
    for _ in 0..<count {
      guard let name = bytes.nextBytes() else { return nil }
      names.append(String(decoding: name, as: UTF8.self))
    }
    entity = names.first.flatMap(Self.entity(named:))
    if entity != nil { names.removeFirst() }
    attributes = names
    while !bytes.isAtEnd {
      guard let key = bytes.nextInteger(), let version = bytes.nextInteger() else { return nil }
      var values: [StoredValue] = []
      for _ in names {
        guard let value = bytes.nextValue() else { return nil }
        values.append(value)
      }
      entries.append(Entry(key: key, version: version, values: values))
    }
  }
}

/// Bytes that values are appended to or read from, one after the other.
private struct PackedBytes {
  private(set) var all: [UInt8]
  private var position = 0

  private enum Kind: UInt8 {
    case null, integer, real, decimal, text, blob
  }

  init(_ all: [UInt8] = []) { self.all = all }

  var isAtEnd: Bool { position == all.count }

  // MARK: Writing

  mutating func append(_ integer: Int64) {
    let bits = UInt64(bitPattern: integer)
    for shift in stride(from: UInt64(0), to: 64, by: 8) { all.append(UInt8(truncatingIfNeeded: bits >> shift)) }
  }

  mutating func append(_ bytes: [UInt8]) {
    append(Int64(bytes.count))
    all += bytes
  }

  mutating func append(_ value: StoredValue) {
    switch value {
    case .null: all.append(Kind.null.rawValue)
    case .integer(let number):
      all.append(Kind.integer.rawValue)
      append(number)
    case .real(let number):
      all.append(Kind.real.rawValue)
      append(Int64(bitPattern: number.bitPattern))
    case .decimal(let number):
      all.append(Kind.decimal.rawValue)
      append(Array("\(number)".utf8))
    case .text(let text):
      all.append(Kind.text.rawValue)
      append(Array(text.utf8))
    case .blob(let data):
      all.append(Kind.blob.rawValue)
      append(Array(data))
    }
  }

  // MARK: Reading

  mutating func nextInteger() -> Int64? {
    guard all.count - position >= 8 else { return nil }
    let bits = all[position..<position + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    position += 8
    return Int64(bitPattern: bits)
  }

  mutating func nextBytes() -> [UInt8]? {
    guard let count = nextInteger(), count >= 0, Int64(all.count - position) >= count else { return nil }
    defer { position += Int(count) }
    return Array(all[position..<position + Int(count)])
  }

  mutating func nextValue() -> StoredValue? {
    guard position < all.count, let kind = Kind(rawValue: all[position]) else { return nil }
    position += 1
    switch kind {
    case .null: return .null
    case .integer: return nextInteger().map { .integer($0) }
    case .real: return nextInteger().map { .real(Double(bitPattern: UInt64(bitPattern: $0))) }
    case .decimal:
      return nextBytes().flatMap { Decimal(string: String(decoding: $0, as: UTF8.self)) }.map { .decimal($0) }
    case .text: return nextBytes().map { .text(String(decoding: $0, as: UTF8.self)) }
    case .blob: return nextBytes().map { .blob(Data($0)) }
    }
  }
}
