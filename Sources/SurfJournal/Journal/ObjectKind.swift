import Foundation
import ManagedObjectModel
import OpenCoreData
import PipelineEngine

/// The objects that the commands on single objects work with: the journal's entries, or those of an entity of any model.
package struct ObjectKind: Sendable {
  /// The model; nil for the journal's, which is a part of this module.
  private let ownModel: NSManagedObjectModel?
  let entity: String
  /// In the order in which they are shown.
  package let attributes: [String]
  /// Parses values as an import does.
  let definition: PipelineDefinition

  /// The journal's entries.
  package static let entry = ObjectKind()

  var isEntry: Bool { ownModel == nil }
  /// The column of a listing that has the keys.
  var keyName: String { isEntry ? "id" : "key" }

  private init() {
    (ownModel, entity, attributes) = (nil, Journal.entityName, JournalRecord.attributes)
    definition = .surfLog
  }

  /// The objects of an entity and its subentities.
  ///
  /// - Parameters:
  ///   - entity: The entity's name.
  ///   - model: The model's file or name; nil for that of the store.
  ///   - store: The store's file, which may not exist yet. Its log is checked when it is opened.
  ///   - timeoutSeconds: How long to wait for a program that has locked the store.
  /// - Throws: `JournalError` for a name that the model does not have, a model that can't be read, and a store whose
  ///   model is unknown.
  package init(
    entity name: String, model: String?, store: String,
    timeoutSeconds: Double = RunModel.Access().timeoutSeconds
  ) throws(JournalError) {
    if name == Journal.entityName, model == nil {
      self = .entry
      return
    }
    var definition = PipelineDefinition(entity: name, vocabulary: .journal).using(model: model)
    do {
      let found = try RunModel(
        definition, given: nil, store: store,
        access: RunModel.Access(readsDamagedWAL: true, timeoutSeconds: timeoutSeconds))
      if found.isOfTables {
        throw JournalError(
          .storeUnusable, exitCode: .dataError, "the model of \(store) is not known; name it with --model MODEL")
      }
      let types = try definition.entity(in: found.model).fillableTypes
      definition.columns = types.sorted { $0.key < $1.key }.map { name, type in
        ColumnDefinition(name, formats: type == .date ? PipelineDefinition.exactlyReadDates : [])
      }
      (ownModel, entity) = (found.model, name)
      attributes = try definition.entity(in: found.model).columnTypes.keys.sorted()
    } catch let error as JournalError {
      throw error
    } catch let error as PipelineError {
      throw JournalError(.badEntity, exitCode: error.exitCode, error.mistakes.map(\.message).joined(separator: "; "))
    } catch {
      throw JournalError(reading: error, path: store)
    }
    self.definition = definition
  }

  /// Its entity in the model of a stack.
  func description(in model: NSManagedObjectModel) -> NSEntityDescription? { model.entitiesByName[entity] }

  /// Checks that an object of the entity itself can be made.
  func checkIsConcrete() throws(JournalError) {
    guard let description = model.flatMap(description(in:)), description.isAbstract else { return }
    let subentities = description.withDescendants.filter { !$0.isAbstract }.compactMap(\.name).sorted()
    throw JournalError(
      .badEntity, exitCode: .usage,
      "'\(entity)' is abstract, and no object is of it alone; add one of its subentities, "
        + subentities.map { "'\($0)'" }.joined(separator: ", "))
  }

  var model: NSManagedObjectModel? { ownModel ?? .embedded(named: CoreDataStack.modelName) }

  /// A stack that is not open yet.
  func stack(store: String, isReadOnly: Bool, timeoutSeconds: Double) -> CoreDataStack {
    let container =
      ownModel.map { NSPersistentContainer(name: entity, managedObjectModel: $0) }
      ?? NSPersistentContainer(name: CoreDataStack.modelName)
    let place = StoreLocation(store)
    // An address that can't be read as a URL is one of a store that does not exist.
    let url = (try? place.url()) ?? URL(fileURLWithPath: "/nonexistent")
    return CoreDataStack(
      container, store: url, type: place.type, seed: nil, isReadOnly: isReadOnly, timeoutSeconds: timeoutSeconds)
  }
}

/// The object ID for an ID as people write it.
struct WrittenID {
  /// As written.
  let text: String
  private let kind: ObjectKind
  private let entity: NSEntityDescription
  private let path: String
  private let named: NSManagedObjectID

  /// Parses an ID. Whether the object exists is known only from the store.
  ///
  /// - Parameter entity: The entity of the object, or one that it inherits from.
  init(
    _ text: String, of entity: NSEntityDescription, _ kind: ObjectKind, in coordinator: NSPersistentStoreCoordinator,
    path: String
  ) throws(JournalError) {
    (self.text, self.kind, self.entity, self.path) = (text, kind, entity, path)
    let name = entity.name ?? ""
    // An entry's links may lead to objects of another entity.
    let isEntry = kind.isEntry && name == kind.entity
    let noun = isEntry ? "an entry" : "of the entity \(name)"
    let (list, uri) =
      isEntry ? ("list", "an entry's URI") : ("list --entity \(name)", "the URI of an object of \(name)")
    if text.contains(":") {
      guard let id = URL(string: text).flatMap(coordinator.managedObjectID(forURIRepresentation:)),
        id.entity.isKindOf(entity: entity)
      else {
        throw JournalError(
          .badID, exitCode: .usage,
          "'\(RawText.oneLine(text))' is not \(noun) of \(path); 'surfjournal show' shows \(uri)")
      }
      named = id
      return
    }
    let digits = text.hasPrefix("p") ? text.dropFirst() : text[...]
    guard digits.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains), let key = Int64(digits), key > 0,
      let id = coordinator.objectID(of: entity, key: key)
    else {
      throw JournalError(
        .badID, exitCode: .usage,
        "'\(RawText.oneLine(text))' is not an ID; write the number that 'surfjournal \(list)' shows, or \(uri)")
    }
    named = id
  }

  /// The ID of the object's own entity, which may be a subentity. Call it on the queue of the context.
  func resolved(in context: NSManagedObjectContext) throws(JournalError) -> NSManagedObjectID {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
    request.predicate = NSPredicate(format: "SELF IN %@", [named] as NSArray)
    do {
      if let found = try context.fetch(request).first { return found.objectID }
    } catch {
      throw JournalError(reading: error, path: path)
    }
    throw missing
  }

  var missing: JournalError {
    let noun = kind.isEntry ? "entry" : entity.name ?? ""
    let option = kind.isEntry ? "" : " --entity \(noun)"
    return JournalError(
      .entryMissing, exitCode: .noInput,
      "\(path) has no \(noun) \(RawText.oneLine(text)); 'surfjournal list\(option)' shows the existing ones")
  }
}
