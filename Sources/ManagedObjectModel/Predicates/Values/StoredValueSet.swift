import Foundation

/// The values of an IN list in a hash table, with SQLite's equality: numbers by value, text by its UTF-8 bytes.
package struct StoredValueSet: Sendable {
  /// Without duplicates, in the given order.
  package private(set) var values: [StoredValue] = []
  private var keys: Set<Key> = []

  private enum Key: Hashable {
    case integer(Int64)
    case real(Double)
    case text(UTF8Text)
    case blob(Data)
  }

  /// Text by its bytes: String treats the composed and the decomposed form of a letter as equal.
  private struct UTF8Text: Hashable {
    let text: String

    static func == (left: UTF8Text, right: UTF8Text) -> Bool {
      left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
      for byte in text.utf8 { hasher.combine(byte) }
    }
  }

  package var isEmpty: Bool { values.isEmpty }

  mutating func insert(_ value: StoredValue) {
    guard let key = Self.key(value), keys.insert(key).inserted else { return }
    values.append(value)
  }

  /// False for null, even if null was inserted.
  package func contains(_ value: StoredValue) -> Bool {
    Self.key(value).map(keys.contains) ?? false
  }

  private static func key(_ value: StoredValue) -> Key? {
    switch value {
    case .null: nil
    case .integer(let value): .integer(value)
    case .real(let value): key(value)
    case .decimal(let value): key(value.storedReal)
    case .text(let value): .text(UTF8Text(text: value))
    case .blob(let value): .blob(value)
    }
  }

  private static func key(_ value: Double) -> Key? {
    value.isNaN ? nil : Int64(exactly: value).map { .integer($0) } ?? .real(value)
  }
}
