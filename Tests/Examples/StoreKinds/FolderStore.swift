import Foundation
import OpenCoreData

/// A store in a folder: one JSON file for each object, in a folder for each entity, and `store.plist` with the metadata.
///
/// Each file is replaced in one step, a save of several objects is not: a store that has to survive a crash in the
/// middle of a save needs a log.
// Unchecked: the library calls the store from one thread at a time.
class FolderStore: NSIncrementalStore, @unchecked Sendable {
  static let storeType = "ExampleFolder"

  /// The version of each row as it was read last.
  private var versions: [NSManagedObjectID: Int] = [:]
  private var folder: URL { url ?? URL(fileURLWithPath: "/dev/null") }
  private var model: NSManagedObjectModel? { persistentStoreCoordinator?.managedObjectModel }

  override var type: String { Self.storeType }

  // MARK: Metadata

  override func loadMetadata() throws {
    let file = Self.metadataFile(folder)
    if FileManager.default.fileExists(atPath: file.path) {
      metadata = try Self.metadataForPersistentStore(with: folder)
    } else {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let new = [NSStoreUUIDKey: Self.identifierForNewStore(at: folder), NSStoreTypeKey: Self.storeType]
      try Self.setMetadata(new, forPersistentStoreAt: folder)
      metadata = new
    }
  }

  override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    let found = try PropertyListSerialization.propertyList(from: Data(contentsOf: metadataFile(url)), format: nil)
    return found as? [String: Any] ?? [:]
  }

  override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    let data = try PropertyListSerialization.data(fromPropertyList: metadata ?? [:], format: .xml, options: 0)
    try data.write(to: metadataFile(url), options: .atomic)
  }

  private class func metadataFile(_ folder: URL) -> URL { folder.appendingPathComponent("store.plist") }

  // MARK: Requests

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    if let fetch = request as? NSFetchRequest<NSFetchRequestResult>, let context {
      return try results(of: fetch, context)
    }
    if let save = request as? NSSaveChangesRequest { return try execute(save) }
    throw CocoaError(.persistentStoreUnsupportedRequestType)
  }

  private func results(of request: NSFetchRequest<NSFetchRequestResult>, _ context: NSManagedObjectContext) throws
    -> [Any]
  {
    guard let entity = request.entity else { return [] }
    let entities = request.includesSubentities ? entity.withSubentities : [entity]
    // A fault that fires has no way to report a damaged file; existingObject(with:) throws.
    var objects =
      try entities
      .flatMap { entity in try references(entity).map { newObjectID(for: entity, referenceObject: $0) } }
      .map { try context.existingObject(with: $0) }
      .filter { request.predicate?.evaluate(with: $0) ?? true }
    for descriptor in (request.sortDescriptors ?? []).reversed() {
      let places = Dictionary(uniqueKeysWithValues: objects.enumerated().map { (ObjectIdentifier($1), $0) })
      objects.sort { left, right in
        let order = descriptor.compare(left, to: right)
        if order != .orderedSame { return order == .orderedAscending }
        return places[ObjectIdentifier(left)] ?? 0 < places[ObjectIdentifier(right)] ?? 0
      }
    }
    if request.resultType == .dictionaryResultType { return slice(dictionaries(objects, request), request) }
    let found = slice(objects, request)
    switch request.resultType {
    case .managedObjectIDResultType: return found.map(\.objectID)
    case .countResultType: return [NSNumber(value: found.count)]
    default: return found
    }
  }

  private func slice<Element>(_ all: [Element], _ request: NSFetchRequest<NSFetchRequestResult>) -> [Element] {
    Array(all.dropFirst(request.fetchOffset).prefix(request.fetchLimit > 0 ? request.fetchLimit : all.count))
  }

  private func dictionaries(
    _ objects: [NSManagedObject], _ request: NSFetchRequest<NSFetchRequestResult>
  ) -> [NSDictionary] {
    let names = (request.propertiesToFetch ?? []).compactMap { ($0 as? NSPropertyDescription)?.name ?? $0 as? String }
    var seen: Set<NSDictionary> = []
    return objects.map { object in
      let result = NSMutableDictionary()
      for name in names {
        let value = name == "objectID" ? object.objectID : object.value(forKeyPath: name)
        if let value { result.setObject(value, forKey: NSString(string: name)) }
      }
      return result
    }.filter { seen.insert($0).inserted || !request.returnsDistinctResults }
  }

  // MARK: Rows

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    guard let row = try row(objectID) else { throw CocoaError(.managedObjectReferentialIntegrity) }
    versions[objectID] = row.version
    var values: [String: Any] = [:]
    for attribute in objectID.entity.attributesByName.values {
      values[attribute.name] = attribute.value(fromJSON: row.values[attribute.name])
    }
    for relationship in objectID.entity.relationshipsByName.values where !relationship.isToMany {
      values[relationship.name] = destination(relationship, row) ?? NSNull()
    }
    return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: UInt64(row.version))
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    guard relationship.isToMany else { return try row(objectID).flatMap { destination(relationship, $0) } ?? NSNull() }
    guard let entity = relationship.destinationEntity, let inverse = relationship.inverseRelationship else { return [] }
    return try references(entity).map { newObjectID(for: entity, referenceObject: $0) }
      .filter { try row($0).flatMap { destination(inverse, $0) } == objectID }
  }

  private func destination(_ relationship: NSRelationshipDescription, _ row: Row) -> NSManagedObjectID? {
    guard let reference = row.values[relationship.name] as? String, let entity = relationship.destinationEntity else {
      return nil
    }
    return newObjectID(for: entity, referenceObject: reference)
  }

  // MARK: Saving

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
  }

  private func execute(_ save: NSSaveChangesRequest) throws -> [Any] {
    guard let inserted = save.insertedObjects, let updated = save.updatedObjects, let deleted = save.deletedObjects
    else {
      try Self.setMetadata(metadata, forPersistentStoreAt: folder)
      return []
    }
    let conflicts = try updated.union(deleted).union(save.lockedObjects ?? []).compactMap(conflict)
    if !conflicts.isEmpty {
      throw CocoaError(.managedObjectMerge, userInfo: [NSPersistentStoreSaveConflictsErrorKey: conflicts])
    }
    for object in inserted { try write(object, version: 1, links: [:]) }
    for object in updated {
      let row = try row(object.objectID)
      try write(object, version: (row?.version ?? 0) + 1, links: row?.values ?? [:])
    }
    for object in deleted where try row(object.objectID) != nil {
      try FileManager.default.removeItem(at: file(object.objectID))
    }
    return []
  }

  /// Others may have written the row since it was read.
  private func conflict(_ object: NSManagedObject) throws -> NSMergeConflict? {
    let (known, found) = (versions[object.objectID] ?? 0, try row(object.objectID)?.version ?? 0)
    if known == found || found == 0 && object.isDeleted { return nil }
    return NSMergeConflict(
      source: object, newVersion: found, oldVersion: known,
      cachedSnapshot: object.committedValues(forKeys: nil), persistedSnapshot: nil)
  }

  private func write(_ object: NSManagedObject, version: Int, links: [String: Any]) throws {
    var values = links
    for attribute in object.entity.attributesByName.values {
      values[attribute.name] = attribute.json(from: object.value(forKey: attribute.name))
    }
    let data = try JSONSerialization.data(
      withJSONObject: ["version": version, "values": values] as [String: Any], options: [.sortedKeys, .prettyPrinted])
    let file = file(object.objectID)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: file, options: .atomic)
    versions[object.objectID] = version
  }

  // MARK: Files

  private struct Row {
    let version: Int
    let values: [String: Any]
  }

  /// The row of an object; nil if there is none. A file that can't be read is an error, not a missing row.
  private func row(_ id: NSManagedObjectID) throws -> Row? {
    let data: Data
    do {
      data = try Data(contentsOf: file(id))
    } catch CocoaError.fileReadNoSuchFile {
      return nil
    }
    let json = try JSONSerialization.jsonObject(with: data) as? [String: Any]
    return Row(version: json?["version"] as? Int ?? 0, values: json?["values"] as? [String: Any] ?? [:])
  }

  private func file(_ id: NSManagedObjectID) -> URL {
    let reference = referenceObject(for: id) as? String ?? ""
    return folder.appendingPathComponent(id.entity.name ?? "").appendingPathComponent(reference + ".json")
  }

  private func references(_ entity: NSEntityDescription) throws -> [String] {
    let path = folder.appendingPathComponent(entity.name ?? "").path
    // The folder is made for the first object.
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: path)
      .filter { $0.hasSuffix(".json") }.map { String($0.dropLast(".json".count)) }.sorted()
  }
}

extension NSEntityDescription {
  fileprivate var withSubentities: [NSEntityDescription] { [self] + subentities.flatMap(\.withSubentities) }
}

extension NSAttributeDescription {
  /// The value of an attribute in JSON: dates are seconds.
  fileprivate func json(from value: Any?) -> Any {
    switch value {
    case let date as Date: date.timeIntervalSinceReferenceDate
    case let value?: value
    case nil: NSNull()
    }
  }

  fileprivate func value(fromJSON value: Any?) -> Any? {
    guard let value, !(value is NSNull) else { return nil }
    guard attributeType == .dateAttributeType else { return value }
    return (value as? NSNumber).map { Date(timeIntervalSinceReferenceDate: $0.doubleValue) }
      ?? (value as? Double).map(Date.init(timeIntervalSinceReferenceDate:))
  }
}
