import Foundation
import OpenCoreData

/// A store in one CSV file that is read and written whole. The first line has the metadata; a column `entity` says what
/// each row is, and `id` holds the reference object, a number.
// Unchecked: the library calls the store from one thread at a time.
class CSVFileStore: NSAtomicStore, @unchecked Sendable {
  static let storeType = "ExampleCSV"

  private var lastReference = 0
  private var file: URL { url ?? URL(fileURLWithPath: "/dev/null") }
  private var entities: [NSEntityDescription] { persistentStoreCoordinator?.managedObjectModel.entities ?? [] }

  override var type: String { Self.storeType }

  // MARK: Metadata

  override func loadMetadata() throws {
    metadata =
      FileManager.default.fileExists(atPath: file.path)
      ? try Self.metadataForPersistentStore(with: file)
      : [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: Self.storeType]
  }

  override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    let text = try String(contentsOf: url, encoding: .utf8)
    let line = text.prefix { !$0.isNewline }
    guard line.hasPrefix("# "), let data = Data(base64Encoded: String(line.dropFirst(2))) else {
      throw CocoaError(.persistentStoreOpen)
    }
    return try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any] ?? [:]
  }

  override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    let rest = try String(contentsOf: url, encoding: .utf8).drop { !$0.isNewline }
    try (line(metadata ?? [:]) + rest).write(to: url, atomically: true, encoding: .utf8)
  }

  private class func line(_ metadata: [String: Any]) throws -> String {
    "# "
      + (try PropertyListSerialization.data(fromPropertyList: metadata, format: .xml, options: 0)).base64EncodedString()
  }

  // MARK: Reading

  override func load() throws {
    guard FileManager.default.fileExists(atPath: file.path) else { return }
    let rows = CSVText.rows(try String(contentsOf: file, encoding: .utf8)).dropFirst()
    guard let header = rows.first else { return }
    var nodes: [NSAtomicStoreCacheNode] = []
    for row in rows.dropFirst() {
      let fields = Dictionary(zip(header.compactMap(\.self), row), uniquingKeysWith: { first, _ in first })
      guard let entity = entities.first(where: { $0.name == fields["entity"] ?? nil }),
        let reference = fields["id"]?.flatMap(Int.init)
      else { continue }
      lastReference = max(lastReference, reference)
      let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: reference))
      for attribute in entity.attributesByName.values {
        node.setValue(fields[attribute.name]?.flatMap(attribute.value), forKey: attribute.name)
      }
      for relationship in entity.relationshipsByName.values where !relationship.isToMany {
        guard let other = fields[relationship.name]?.flatMap(Int.init), let end = relationship.destinationEntity else {
          continue
        }
        node.setValue(objectID(for: end, withReferenceObject: other), forKey: relationship.name)
      }
      nodes.append(node)
    }
    addCacheNodes(Set(nodes))
    connect(nodes)
  }

  /// Gives the nodes at the other ends of to-one relationships their sets.
  private func connect(_ nodes: [NSAtomicStoreCacheNode]) {
    for node in nodes {
      for relationship in node.objectID.entity.relationshipsByName.values {
        guard !relationship.isToMany, let inverse = relationship.inverseRelationship,
          let end = (node.value(forKey: relationship.name) as? NSManagedObjectID).flatMap(cacheNode)
        else { continue }
        let others = end.value(forKey: inverse.name) as? Set<NSAtomicStoreCacheNode> ?? []
        end.setValue(others.union([node]), forKey: inverse.name)
      }
    }
  }

  // MARK: Writing

  override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    lastReference += 1
    return lastReference
  }

  override func save() throws {
    let attributes = Dictionary(grouping: entities.flatMap { $0.attributesByName.values }, by: \.name)
    let links = Set(entities.flatMap { $0.relationshipsByName.values.filter { !$0.isToMany }.map(\.name) }).sorted()
    let names = attributes.keys.sorted()
    let nodes = cacheNodes().sorted { number($0.objectID) < number($1.objectID) }
    let rows = nodes.map { node -> [String?] in
      let entity = node.objectID.entity
      return [entity.name, String(number(node.objectID))]
        + names.map { name in entity.attributesByName[name].flatMap { $0.text(node.value(forKey: name)) } }
        + links.map { (node.value(forKey: $0) as? NSManagedObjectID).map { String(number($0)) } }
    }
    let header: [String?] = ["entity", "id"] + names + links
    let lines = [try Self.line(metadata)] + ([header] + rows).map(CSVText.line)
    try (lines.joined(separator: "\n") + "\n").write(to: file, atomically: true, encoding: .utf8)
  }

  private func number(_ id: NSManagedObjectID) -> Int { referenceObject(for: id) as? Int ?? 0 }
}

extension NSAttributeDescription {
  fileprivate func text(_ value: Any?) -> String? {
    switch value {
    case let date as Date: String(date.timeIntervalSinceReferenceDate)
    case let value?: "\(value)"
    case nil: nil
    }
  }

  fileprivate func value(_ text: String) -> Any? {
    switch attributeType {
    case .dateAttributeType: Double(text).map(Date.init(timeIntervalSinceReferenceDate:))
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: Int64(text)
    case .doubleAttributeType: Double(text)
    default: text
    }
  }
}

/// As much CSV as the store needs: every text is quoted, and nil is an empty field.
private enum CSVText {
  static func line(_ fields: [String?]) -> String {
    fields.map { field in field.map { "\"" + $0.replacingOccurrences(of: "\"", with: "\"\"") + "\"" } ?? "" }
      .joined(separator: ",")
  }

  static func rows(_ text: String) -> [[String?]] {
    var (rows, row, field, isQuoted) = ([[String?]](), [String?](), String?.none, false)
    var rest = text[...]
    while let next = rest.popFirst() {
      switch next {
      case "\"" where isQuoted && rest.first == "\"":
        rest = rest.dropFirst()
        field?.append("\"")
      case "\"":
        isQuoted.toggle()
        field = field ?? ""
      case "," where !isQuoted:
        row.append(field)
        field = nil
      case "\n" where !isQuoted:
        rows.append(row + [field])
        (row, field) = ([], nil)
      default: field = (field ?? "") + String(next)
      }
    }
    return rows
  }
}
