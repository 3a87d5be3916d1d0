import Foundation
import ManagedObjectModel
import OpenCoreData
import PersistentStores

/// The model's default for an attribute that no column of the input fills: its value in a new object.
struct AttributeDefault: Sendable {
  private enum Value: Sendable {
    case integer(Int64)
    case real(Double)
    case bytes(ValueCell.Kind, [UInt8])
  }

  private let slot: Int
  private let value: Value

  /// The defaults of an entity's attributes, except those in `filled`. The store computes derived attributes.
  static func all(of entity: NSEntityDescription, except filled: Set<Int>) -> [AttributeDefault] {
    entity.attributeSlots.enumerated().compactMap { slot, attribute in
      guard !filled.contains(slot), !(attribute is NSDerivedAttributeDescription) else { return nil }
      return AttributeDefault(attribute.defaultStoredValue, slot: slot)
    }
  }

  private init?(_ value: StoredValue, slot: Int) {
    self.slot = slot
    switch value {
    case .null: return nil
    case .integer(let number): self.value = .integer(number)
    case .real(let number): self.value = .real(number)
    case .text(let text): self.value = .bytes(.text, Array(text.utf8))
    case .blob(let data): self.value = .bytes(.blob, Array(data))
    case .decimal(let number): self.value = .bytes(.decimal, Array("\(number)".utf8))
    }
  }

  /// Sets the value in the last row.
  func fill(_ batch: inout ObjectBatch) {
    switch value {
    case .integer(let number): batch.setInteger(number, at: slot)
    case .real(let number): batch.setReal(number, at: slot)
    case .bytes(let kind, let bytes): batch.setBytes(kind, at: slot) { $0 += bytes }
    }
  }
}
