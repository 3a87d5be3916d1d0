import Foundation
import ManagedObjectModel
import OpenCoreData
import PersistentStores
import PipelineEngine

/// An entry of the journal, or an object of another entity, as it was read: values without a context.
public struct JournalRecord: Sendable, Hashable {
  /// The attributes of an entry, in the order of a surf log's columns.
  public static let attributes = PipelineDefinition.surfLog.columns.map(\.attribute)

  /// The primary key of its row; nil until it is saved.
  public internal(set) var id: Int64?
  /// `x-coredata://STORE-UUID/JournalEntry/pN`; nil until it is saved.
  public internal(set) var uri: String?
  /// By attribute.
  public internal(set) var values: [String: JournalValue]
  /// The entity of an object that is not one of the journal's entries.
  let entity: String?
  /// The attributes in their order.
  let names: [String]
  /// The relationships that were read, by name.
  package internal(set) var links: [RecordLink] = []

  /// The value of an attribute; `none` for one without a value and for one that the entity does not have.
  public subscript(attribute: String) -> JournalValue { values[attribute] ?? .none }

  /// Reads an object. Call it on the queue of the object's context.
  ///
  /// - Parameter relationships: Those whose objects are read too.
  init(_ object: NSManagedObject, _ kind: ObjectKind, relationships: [String] = []) {
    let columns = RecordColumn.all(of: object.entity, kind)
    let stored = object.storedValues(at: columns.map(\.slot))
    self.init(object.objectID, kind, columns: columns)
    for (column, value) in zip(columns, stored) { values[column.attribute] = JournalValue(value, column.type) }
    links = relationships.compactMap { RecordLink($0, of: object) }
  }

  /// Reads a batch row.
  init(_ batch: ObjectBatch, row: Int, id: NSManagedObjectID, _ kind: ObjectKind, columns: [RecordColumn]) {
    self.init(id, kind, columns: columns)
    for column in columns {
      values[column.attribute] = JournalValue(batch.value(row: row, slot: column.slot), column.type)
    }
  }

  private init(_ id: NSManagedObjectID, _ kind: ObjectKind, columns: [RecordColumn]) {
    values = [:]
    entity = kind.isEntry ? nil : id.entity.name
    names = columns.map(\.attribute)
    identify(id)
  }

  mutating func identify(_ objectID: NSManagedObjectID) {
    id = objectID.storeKey
    uri = objectID.isTemporaryID ? nil : objectID.uriRepresentation().absoluteString
  }

  /// What a message calls it.
  var title: String { id.map { "\(entity ?? "entry") \($0)" } ?? "new \(entity ?? "entry")" }
}

/// The objects at the other end of a relationship.
package struct RecordLink: Sendable, Hashable {
  package struct Object: Sendable, Hashable, Encodable {
    let entity: String
    /// Nil until it is saved.
    let id: Int64?
    let uri: String?
    /// The value that says most of what it is; nil if it has none.
    let label: String?

    /// `Spot 12  Malibu`.
    var text: String {
      [entity + (id.map { " \($0)" } ?? ""), label.map(RawText.oneLine)].compactMap(\.self).joined(separator: "  ")
    }

    fileprivate init(_ object: NSManagedObject) {
      entity = object.objectID.entity.name ?? ""
      id = object.objectID.storeKey
      uri = object.objectID.isTemporaryID ? nil : object.objectID.uriRepresentation().absoluteString
      label = Self.labelAttribute(of: object.entity).flatMap { object.value(forKey: $0) as? String }
    }

    /// A text with one of the usual names, or the first one.
    private static func labelAttribute(of entity: NSEntityDescription) -> String? {
      let texts = entity.columnTypes.filter { $0.value == .text }.keys.sorted()
      return ["name", "title", "label", "location"].first(where: texts.contains) ?? texts.first
    }
  }

  let name: String
  let isToMany: Bool
  let objects: [Object]

  /// Nil for a name that the object's entity does not have.
  init?(_ name: String, of object: NSManagedObject) {
    guard let relationship = object.entity.relationshipsByName[name], !relationship.isTransient else { return nil }
    self.name = name
    isToMany = relationship.isToMany
    let found = object.objects(at: name).map(Object.init)
    objects =
      relationship.isOrdered
      ? found : found.sorted { ($0.entity, $0.id ?? .max) < ($1.entity, $1.id ?? .max) }
  }
}

extension NSManagedObject {
  /// The objects that a relationship leads to, in its order if it has one.
  func objects(at relationship: String) -> [NSManagedObject] {
    switch value(forKey: relationship) {
    case let ordered as NSOrderedSet: ordered.array.compactMap { $0 as? NSManagedObject }
    case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
    case let other as NSManagedObject: [other]
    default: []
    }
  }
}

extension JournalRecord: Encodable {
  struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ text: String) { stringValue = text }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Encodes an entry as one object with `id`, `uri` and every attribute, null for no value. Another object has its
  /// `entity`, and its `attributes` and `relationships` in objects of their own, as their names are free.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(id, forKey: Key("id"))
    try container.encode(uri, forKey: Key("uri"))
    guard let entity else {
      for attribute in names { try container.encode(self[attribute], forKey: Key(attribute)) }
      return
    }
    try container.encode(entity, forKey: Key("entity"))
    var attributes = container.nestedContainer(keyedBy: Key.self, forKey: Key("attributes"))
    for attribute in names { try attributes.encode(self[attribute], forKey: Key(attribute)) }
    if links.isEmpty { return }
    var relationships = container.nestedContainer(keyedBy: Key.self, forKey: Key("relationships"))
    for link in links { try relationships.encode(link: link, forKey: Key(link.name)) }
  }
}

extension KeyedEncodingContainer<JournalRecord.Key> {
  /// Encodes the objects that a relationship leads to: a list, or one object or null.
  mutating func encode(link: RecordLink, forKey key: JournalRecord.Key) throws {
    if link.isToMany { try encode(link.objects, forKey: key) } else { try encode(link.objects.first, forKey: key) }
  }
}

/// The slot of an attribute in an object's values, and in the batches of a walk.
struct RecordColumn: Sendable {
  let attribute: String
  let slot: Int
  let type: ColumnType

  /// A subentity's own attributes follow those of the kind.
  static func all(of entity: NSEntityDescription, _ kind: ObjectKind) -> [RecordColumn] {
    let types = entity.columnTypes
    let more = kind.isEntry ? [] : Set(types.keys).subtracting(kind.attributes).sorted()
    return (kind.attributes + more).compactMap { attribute in
      guard let slot = entity.slot(named: attribute), let type = types[attribute] else { return nil }
      return RecordColumn(attribute: attribute, slot: slot, type: type)
    }
  }
}
