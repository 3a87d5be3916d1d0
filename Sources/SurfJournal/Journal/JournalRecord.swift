import Foundation
import OpenCoreData
import PersistentStores
import PipelineEngine

/// An entry of the journal as it was read: values without a context.
public struct JournalRecord: Sendable, Hashable {
  /// The attributes of an entry, in the order of a surf log's columns.
  public static let attributes = PipelineDefinition.surfLog.columns.map(\.attribute)

  /// The primary key of its row; nil until it is saved.
  public internal(set) var id: Int64?
  /// `x-coredata://STORE-UUID/JournalEntry/pN`; nil until it is saved.
  public internal(set) var uri: String?
  /// By attribute.
  public internal(set) var values: [String: JournalValue]

  public subscript(attribute: String) -> JournalValue { values[attribute] ?? .none }

  /// Reads an object. Call it on the queue of the object's context.
  init(_ object: NSManagedObject) {
    let pairs = Self.attributes.map { ($0, JournalValue(object.value(forKey: $0))) }
    values = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    identify(object.objectID)
  }

  /// Reads a batch row.
  init(_ batch: ObjectBatch, row: Int, id: NSManagedObjectID, columns: [JournalColumn]) {
    values = [:]
    for column in columns { values[column.attribute] = column.value(batch, row: row) }
    identify(id)
  }

  mutating func identify(_ objectID: NSManagedObjectID) {
    id = objectID.storeKey
    uri = objectID.isTemporaryID ? nil : objectID.uriRepresentation().absoluteString
  }
}

extension JournalRecord: Encodable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Encodes one object: `id`, `uri` and every attribute, null for no value.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(id, forKey: Key(stringValue: "id"))
    try container.encode(uri, forKey: Key(stringValue: "uri"))
    for attribute in Self.attributes { try container.encode(self[attribute], forKey: Key(stringValue: attribute)) }
  }
}

/// The slot of an attribute in the batches of a walk.
struct JournalColumn: Sendable {
  let attribute: String
  private let slot: Int
  private let isDate: Bool

  static func all(of entity: NSEntityDescription) -> [JournalColumn] {
    JournalRecord.attributes.compactMap { attribute in
      entity.slot(named: attribute).map { slot in
        JournalColumn(attribute: attribute, slot: slot, isDate: entity.columnTypes[attribute] == .date)
      }
    }
  }

  func value(_ batch: ObjectBatch, row: Int) -> JournalValue {
    let cell = batch.cell(row: row, slot: slot)
    return switch cell.kind {
    case .text: .text(String(decoding: batch.bytes(of: cell), as: UTF8.self))
    case .integer: .number(cell.integer)
    case .real where isDate: .date(Date(timeIntervalSinceReferenceDate: cell.real))
    case .null, .real, .blob, .decimal: .none
    }
  }
}
