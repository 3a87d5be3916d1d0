import Foundation

/// What the result of a batch insertion contains.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
  /// Whether it succeeded: `true`.
  case statusOnly
  /// The IDs of the inserted or updated objects.
  case objectIDs
  /// The number of inserted or updated objects.
  case count
}

/// Inserts rows into the store without contexts: no validation and no notifications. (Apple documentation:
/// NSBatchInsertRequest.)
///
/// Attributes without a value get the model's default. If an entity has uniqueness constraints, an object whose values
/// are already in use is left out. With a merge policy that lets objects trump the store (or overwrite it), the stored
/// object takes all its values instead.
///
/// ```swift
/// let request = NSBatchInsertRequest(
///   entityName: "JournalEntry", objects: [["location": "Rincon", "rating": 4]])
/// request.resultType = .count
/// let result = try context.execute(request) as? NSBatchInsertResult
/// print(result?.result ?? 0)  // 1
/// ```
open class NSBatchInsertRequest: NSPersistentStoreRequest, ContextRequest {
  private enum Content {
    case dictionaries([[String: Any]])
    case dictionaryHandler((NSMutableDictionary) -> Bool)
    case objectHandler((NSManagedObject) -> Bool)
  }

  /// The entity that the request was made with; nil if it was given by name.
  public let entity: NSEntityDescription?
  /// The name of the entity of the new objects.
  public let entityName: String
  private var content: Content
  /// What the result contains: success (the default), the IDs of the new objects, or their number.
  open var resultType = NSBatchInsertRequestResultType.statusOnly
  open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

  private init(_ entity: NSEntityDescription?, name: String, content: Content) {
    self.entity = entity
    entityName = name
    self.content = content
  }

  /// A request without an entity, which can't be executed.
  @available(*, deprecated, message: "Name the entity: init(entityName:objects:).")
  public convenience override init() { self.init(nil, name: "", content: .dictionaries([])) }

  /// Inserts an object for each dictionary of values by attribute name.
  public convenience init(entityName: String, objects dictionaries: [[String: Any]]) {
    self.init(nil, name: entityName, content: .dictionaries(dictionaries))
  }

  /// A request that inserts an object for each dictionary. (Apple documentation: init(entity:objects:).)
  ///
  /// - Parameters:
  ///   - entity: The entity of the new objects.
  ///   - dictionaries: Their values by the names of attributes.
  public convenience init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
    self.init(entity, name: entity.name ?? "", content: .dictionaries(dictionaries))
  }

  /// Inserts an object for each dictionary that `handler` fills, until it returns true.
  public convenience init(
    entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) { self.init(nil, name: entityName, content: .dictionaryHandler(handler)) }

  /// A request that asks for one object after the other as a dictionary. (Apple documentation:
  /// init(entity:dictionaryHandler:).)
  ///
  /// - Parameters:
  ///   - entity: The entity of the new objects.
  ///   - handler: Sets the values of the next object by the names of attributes; returns true to end the insertion.
  public convenience init(
    entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) { self.init(entity, name: entity.name ?? "", content: .dictionaryHandler(handler)) }

  /// Inserts the values that `handler` sets in its argument, until it returns true. The argument is the same object
  /// each time, and has no context.
  public convenience init(
    entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
  ) { self.init(nil, name: entityName, content: .objectHandler(handler)) }

  /// A request that asks for one object after the other. (Apple documentation: init(entity:managedObjectHandler:).)
  ///
  /// - Parameters:
  ///   - entity: The entity of the new objects.
  ///   - handler: Sets the values of the next object; returns true to end the insertion.
  public convenience init(
    entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
  ) { self.init(entity, name: entity.name ?? "", content: .objectHandler(handler)) }

  /// The dictionaries of values by attribute name; nil if a handler gives the values. Setting them, or a handler, replaces
  /// what the request inserts; nil leaves it as it is.
  open var objectsToInsert: [[String: Any]]? {
    get { if case .dictionaries(let dictionaries) = content { dictionaries } else { nil } }
    set { if let newValue { content = .dictionaries(newValue) } }
  }

  /// What fills one dictionary after the other; nil if the values come from elsewhere.
  open var dictionaryHandler: ((NSMutableDictionary) -> Bool)? {
    get { if case .dictionaryHandler(let handler) = content { handler } else { nil } }
    set { if let newValue { content = .dictionaryHandler(newValue) } }
  }

  /// What sets the values of one object after the other; nil if the values come from elsewhere.
  open var managedObjectHandler: ((NSManagedObject) -> Bool)? {
    get { if case .objectHandler(let handler) = content { handler } else { nil } }
    set { if let newValue { content = .objectHandler(newValue) } }
  }

  func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let outcome = try insert(in: context, context.uniquenessResolution)
    switch resultType {
    case .statusOnly: return NSBatchInsertResult(resultType, true)
    case .objectIDs: return NSBatchInsertResult(resultType, outcome.ids)
    case .count: return NSBatchInsertResult(resultType, outcome.count)
    }
  }

  func insert(in context: NSManagedObjectContext, _ resolution: UniquenessResolution) throws -> BatchOutcome {
    let coordinator = try context.requireCoordinator()
    guard let entity = entity ?? context.model?.entitiesByName[entityName] else {
      throw NSError.unknownEntity(entityName, in: "The batch insertion", model: context.model)
    }
    guard !entity.isAbstract else {
      throw NSError.coreData(
        .coreData, "Objects of the abstract entity \(entityName) can't be made; insert into one of its subentities.")
    }
    var rows = BatchInsertionRows(entity)
    let stores = (affectedStores ?? coordinator.persistentStores).map(\.rowStore).filter { $0.keeps(entity) }
    guard let store = stores.first(where: { !$0.isReadOnly }) ?? stores.first else { return BatchOutcome() }
    let outcomes = try coordinator.writeToStores([store.identity], keeping: entity, for: context.changeOrigin) {
      try $0.batchInsert(entity, resolution: resolution, wantsIDs: resultType == .objectIDs) { try fill(&$0, &rows) }
    }
    return outcomes.joined
  }

  private func fill(_ batch: inout ObjectBatch, _ rows: inout BatchInsertionRows) throws {
    while !rows.isAtEnd, batch.count < BatchInsertionRows.perStatement {
      switch content {
      case .dictionaries(let dictionaries):
        rows.isAtEnd = rows.count == dictionaries.count
        if !rows.isAtEnd { try rows.append(dictionaries[rows.count], to: &batch) }
      case .dictionaryHandler(let handler):
        let dictionary = NSMutableDictionary()
        rows.isAtEnd = handler(dictionary)
        if !rows.isAtEnd { try rows.append(dictionary.values, to: &batch) }
      case .objectHandler(let handler):
        rows.isAtEnd = handler(rows.emptyObject())
        if !rows.isAtEnd { rows.appendObject(to: &batch) }
      }
    }
  }
}

/// The result of a batch insertion. (Apple documentation: NSBatchInsertResult.)
open class NSBatchInsertResult: NSPersistentStoreResult {
  /// What `result` contains.
  public let resultType: NSBatchInsertRequestResultType
  /// True, the `[NSManagedObjectID]` of the inserted or updated objects, or their number (`Int`).
  public let result: Any?

  init(_ resultType: NSBatchInsertRequestResultType, _ result: Any?) {
    self.resultType = resultType
    self.result = result
  }
}

/// Packs the input of a batch insertion.
private struct BatchInsertionRows {
  static let perStatement = 5000

  private let entity: NSEntityDescription
  private(set) var count = 0
  var isAtEnd = false
  private lazy var object = entity.objectClass.init(entity: entity, insertInto: nil)

  init(_ entity: NSEntityDescription) { self.entity = entity }

  mutating func append(_ values: [String: Any], to batch: inout ObjectBatch) throws {
    batch.appendRow()
    batch.setValues(entity.layout.defaultValues, row: batch.count - 1)
    for (name, value) in values {
      do {
        let (slot, stored) = try entity.batchValue(value, forKey: name)
        batch.setValue(stored, row: batch.count - 1, slot: slot)
      } catch {
        let message = (error as NSError).localizedDescription
        throw NSError.coreData(.coreData, "Object \(count + 1) of the batch insertion: \(message)")
      }
    }
    count += 1
  }

  /// The object that the handler receives, with the model's defaults.
  mutating func emptyObject() -> NSManagedObject {
    object.resetToDefaults()
    return object
  }

  mutating func appendObject(to batch: inout ObjectBatch) {
    batch.appendRow()
    batch.setValues(object.values, row: batch.count - 1)
    count += 1
  }
}

extension NSMutableDictionary {
  /// Its values by name; a key that is not a string names no attribute.
  fileprivate var values: [String: Any] {
    var result: [String: Any] = [:]
    for (key, value) in self { result[key as? String ?? "\(key)"] = value }
    return result
  }
}

extension NSManagedObjectContext {
  /// How this context's merge policy resolves an inserted object whose unique values are already in use.
  var uniquenessResolution: UniquenessResolution {
    switch (mergePolicy as? NSMergePolicy)?.mergeType {
    case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType: .overwrite
    case .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType, nil: .keepStored
    }
  }
}
