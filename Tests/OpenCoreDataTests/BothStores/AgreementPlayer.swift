import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

/// Takes steps on one stack: on a context, its child, and two other contexts.
final class AgreementPlayer {
  let stack: Stack
  private let folder: TemporaryFolder
  private let lesson: NSEntityDescription
  private let contexts: [NSManagedObjectContext]
  /// By context: objects that stay as they are while others change their rows.
  private var held: [[NSManagedObject]]
  private let lastSaves: [LastSave]
  private let ignoresMerges: Bool
  private var titleCount = 0
  /// The last transaction of the history that was shown.
  private var transactionSeen: Int64 = 0

  static let contextCount = 4

  init(
    _ kind: StoreKind, policies: [Policy], unique: [String], plantedError: BruteForceStore.PlantedError? = nil,
    options: [AnyHashable: Any]? = nil
  ) throws {
    ignoresMerges = plantedError == .ignoresMerges
    folder = try TemporaryFolder()
    stack = try Stack(folder, model: Self.model(unique), kind: kind, plantedError: plantedError, options: options)
    lesson = try #require(stack.coordinator.managedObjectModel.entitiesByName["Lesson"])
    let root = stack.context()
    contexts = [root, stack.context(root), stack.context(), stack.context()]
    held = contexts.map { _ in [] }
    lastSaves = contexts.map(LastSave.init)
    for (context, policy) in zip(contexts, policies) { context.mergePolicy = policy.value }
  }

  private static func model(_ unique: [String]) -> NSManagedObjectModel {
    let lesson = NSEntityDescription()
    lesson.name = "Lesson"
    lesson.managedObjectClassName = "NSManagedObject"
    lesson.properties = [Sessions.attribute("coach", .stringAttributeType)]
    let model = Sessions.model(unique: unique) { session in
      session.properties += [
        Sessions.attribute("title", .stringAttributeType), Sessions.attribute("height", .doubleAttributeType),
      ]
      for case let attribute as NSAttributeDescription in session.properties {
        attribute.preservesValueInHistoryOnDeletion = true
      }
      session.subentities = [lesson]
    }
    model.entities.append(lesson)
    relate(model)
    return model
  }

  // MARK: Steps

  /// Takes a step in a context and says what came of it.
  func take(_ step: AgreementStep, in place: Int) throws -> String {
    let context = contexts[place]
    if case .transaction(let commits) = step { return try transaction(commits) }
    return context.performAndWait {
      do {
        return try answer(step, in: context, place: place)
      } catch let error as NSError {
        let failed = error.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID] ?? []
        return "error \(error.code) of \(failed.map(Self.text).sorted())"
      }
    }
  }

  private func answer(_ step: AgreementStep, in context: NSManagedObjectContext, place: Int) throws -> String {
    switch step {
    case .insert(let entityName, let values):
      let object = NSManagedObject.make(entityName == "Lesson" ? lesson : stack.entity, in: context)
      set(values, of: object)
      object.setValue(nextTitle(), forKey: "title")
    case .insertMany(let rows):
      var batch = ObjectBatch(entity: stack.entity)
      let slots = stack.entity.attributeSlots
      for row in rows {
        batch.appendRow()
        for (slot, attribute) in slots.enumerated() {
          let value = attribute.name == "title" ? nextTitle() : row.dictionary[attribute.name]
          batch.setValue(attribute.storedValue(from: value) ?? .null, row: batch.count - 1, slot: slot)
        }
      }
      if batch.count > 0 { context.insert(batch) }
    case .change(let number, let values):
      guard let object = try pick(number, in: context, place: place) else { return "nothing" }
      set(values, of: object)
    case .delete(let number):
      guard let object = try pick(number, in: context, place: place) else { return "nothing" }
      context.delete(object)
    case .save: try context.save()
    case .rollBack: context.rollback()
    case .refresh(let number, let mergesChanges):
      guard let object = try pick(number, in: context, place: place) else { return "nothing" }
      context.refresh(object, mergeChanges: mergesChanges)
    case .refreshAll: context.refreshAllObjects()
    case .reset:
      held[place] = []
      context.reset()
    case .obtainIDs:
      // Which key an object gets depends on the order.
      let objects = context.insertedObjects.sorted { $0.sessionTitle < $1.sessionTitle }
      try context.obtainPermanentIDs(for: objects)
    case .fetch(let fetch): return try answer(fetch, context)
    case .pin(let pins):
      guard context.parent == nil else { return "child" }
      try context.setQueryGenerationFrom(pins ? .current : nil)
    case .batchUpdate(let fetch, let rating):
      let request = NSBatchUpdateRequest(entityName: fetch.entityName)
      request.predicate = fetch.predicate.map(Self.predicate)
      request.includesSubentities = fetch.includesSubentities
      request.propertiesToUpdate = ["rating": rating ?? NSNull()]
      request.resultType = .updatedObjectIDsResultType
      return Self.text((try context.execute(request) as? NSBatchUpdateResult)?.result)
    case .batchDelete(let fetch):
      let request = NSBatchDeleteRequest(fetchRequest: Self.request(fetch, NSManagedObject.self))
      request.resultType = .resultTypeObjectIDs
      return Self.text((try context.execute(request) as? NSBatchDeleteResult)?.result)
    case .batchInsert(let rows):
      let dictionaries = rows.map { $0.dictionary.merging(["title": nextTitle()]) { $1 } }
      let request = NSBatchInsertRequest(entityName: "Session", objects: dictionaries)
      request.resultType = .objectIDs
      return Self.text((try context.execute(request) as? NSBatchInsertResult)?.result)
    case .detectConflicts(let number):
      guard let object = try pick(number, in: context, place: place) else { return "nothing" }
      context.detectConflicts(for: object)
    case .relate(let link):
      if !(try take(link, in: context, place: place)) { return "nothing" }
    case .mergeSave(let other):
      guard other != place else { return "its own" }
      let ids = ignoresMerges ? [:] : lastSaves[other].ids
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: ids, into: [context])
    case .transaction: return "taken elsewhere"
    }
    context.processPendingChanges()
    return "done"
  }

  /// Saves two contexts in one transaction. After one that is taken back, contexts start anew.
  private func transaction(_ commits: Bool) throws -> String {
    try stack.coordinator.beginTransaction()
    let answers = try [2, 3].map { try take(.save, in: $0) }
    let seen = try rows()
    if commits { try stack.coordinator.commitTransaction() } else { try stack.coordinator.rollBackTransaction() }
    if !commits { for place in contexts.indices { _ = try take(.reset, in: place) } }
    return (answers + [seen]).joined(separator: "\n")
  }

  private func set(_ values: AgreementValues, of object: NSManagedObject) {
    for (name, value) in values.dictionary { object.setValue(value is NSNull ? nil : value, forKey: name) }
  }

  func nextTitle() -> String {
    titleCount += 1
    return String(format: "%04d", titleCount)
  }

  /// One of the objects that the context shows.
  func pick(
    _ number: Int, of entity: String = "Session", in context: NSManagedObjectContext, place: Int
  ) throws -> NSManagedObject? {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    let objects = try context.fetch(request)
    guard !objects.isEmpty else { return nil }
    let object = objects[number % objects.count]
    if number.isMultiple(of: 2) { held[place].append(object) }
    return object
  }

  // MARK: Fetching

  private static func predicate(_ predicate: (format: String, arguments: [AgreementFetch.Value])) -> NSPredicate {
    NSPredicate(format: predicate.format, argumentArray: predicate.arguments.map(\.argument))
  }

  private static func request<Found>(_ fetch: AgreementFetch, _ type: Found.Type) -> NSFetchRequest<Found> {
    let request = NSFetchRequest<Found>(entityName: fetch.entityName)
    request.predicate = fetch.predicate.map(predicate)
    request.sortDescriptors = fetch.sortKeys.map { NSSortDescriptor(key: $0.name, ascending: $0.isAscending) }
    request.fetchLimit = fetch.limit
    request.fetchOffset = fetch.offset
    request.fetchBatchSize = fetch.batchSize
    request.includesPendingChanges = fetch.includesPendingChanges
    request.includesSubentities = fetch.includesSubentities
    return request
  }

  private func answer(_ fetch: AgreementFetch, _ context: NSManagedObjectContext) throws -> String {
    switch fetch.kind {
    case .objects:
      return try context.fetch(Self.request(fetch, NSManagedObject.self)).map(Self.text).joined(separator: "\n")
    case .identities:
      let request = Self.request(fetch, NSManagedObjectID.self)
      request.resultType = .managedObjectIDResultType
      return try context.fetch(request).map(Self.text).joined(separator: "\n")
    case .count: return "\(try context.count(for: Self.request(fetch, NSManagedObject.self)))"
    case .walk:
      var texts: [String] = []
      try context.walkObjects(Self.request(fetch, NSManagedObject.self), objectsPerBatch: 3) { objects in
        texts += objects.map(Self.text)
        return true
      }
      return texts.joined(separator: "\n")
    case .dictionaries, .distinct, .groups:
      let request = Self.request(fetch, NSDictionary.self)
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["place", "rating"]
      request.returnsDistinctResults = fetch.kind == .distinct
      if fetch.kind == .groups { request.propertiesToGroupBy = ["place", "rating"] }
      let found = try context.fetch(request).map { row in
        ["place", "rating"].map { row[$0].map { "\($0)" } ?? "nil" }.joined(separator: "|")
      }
      return "\(try context.count(for: request)): " + found.joined(separator: "\n")
    }
  }

  // MARK: What is there

  /// What the contexts show, and what the store has.
  ///
  /// - Parameter isLinked: Whether the contexts show relationships, which reads them all.
  func state(isLinked: Bool) throws -> String {
    let shown = try contexts.map { context in
      try context.performAndWait {
        try ["Session", "Club"].flatMap { entity in
          let request = NSFetchRequest<NSManagedObject>(entityName: entity)
          request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
          return try context.fetch(request).map { Self.text($0) + (isLinked ? Self.ends(of: $0) : "") }
        }.joined(separator: "\n")
      }
    }
    return (shown + [try rows(), try links()]).joined(separator: "\n--\n")
  }

  /// The transactions of the history since the last call.
  func history() throws -> String {
    let store = try #require(stack.coordinator.rowStores.first as? any HistoryTrackingStore)
    let found = try store.history(.afterNumber(transactionSeen), withChanges: true)
    let last = try store.lastTransactionNumber()
    #expect((found.last?.number ?? last) == last)
    transactionSeen = last
    return found.flatMap { transaction in
      ["\(transaction.number) \(transaction.author ?? "") \(transaction.contextName ?? "")"]
        // The objects of a save have no order.
        + transaction.changes.map(Self.text).sorted()
    }.joined(separator: "\n")
  }

  private static func text(_ change: HistoryChange) -> String {
    let values = change.tombstone.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    return "\(change.kind) \(text(change.id)) \(change.updatedProperties ?? []) \(values)"
  }

  private func rows() throws -> String {
    let store = try #require(stack.coordinator.rowStores.first)
    return try store.read(nil) { reader in
      try reader.rows(FetchQuery(entity: stack.entity)).map { row in
        "\(Self.text(row.id)) \(row.version) \(row.values)"
      }.joined(separator: "\n")
    }
  }

  private static func text(_ object: NSManagedObject) -> String {
    let names = object.entity.name == "Club" ? ["title"] : ["title", "place", "rating", "date", "height"]
    let values = names.map { name in
      let value = object.value(forKey: name)
      return (value as? Date).map { "\($0.timeIntervalSinceReferenceDate)" } ?? value.map { "\($0)" } ?? "nil"
    }
    let flags = [object.isInserted, object.isUpdated, object.isDeleted].map { $0 ? "1" : "0" }
    return text(object.objectID) + " " + (values + flags).joined(separator: "|")
  }

  static func text(_ id: NSManagedObjectID) -> String {
    "\(id.entity.name ?? "") \(id.storeKey.map(String.init) ?? "new")"
  }

  /// IDs that a batch request names, in no particular order.
  private static func text(_ result: Any?) -> String {
    (result as? [NSManagedObjectID] ?? []).map(text).sorted().joined(separator: ", ")
  }
}
