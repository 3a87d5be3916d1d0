import Foundation
import SystemSupport
import OpenCoreData
import PersistentStores

/// A whole store as files: one for each entity, with columns that name related objects, and the pipeline that imports all
/// of them into a new store with the same objects and relationships.
///
/// ```swift
/// let tables = try StoreTables(store: "surfing.sqlite", vocabulary: .journal)
/// for export in tables.exports { print(export.entity) }
/// ```
public struct StoreTables: Sendable {
  /// Why a store can't be written so that an import takes it back.
  public struct Failure: Error, Sendable {
    /// What is wrong, by name.
    public let message: String
    /// The exit status of a program that can't go on.
    public let exitCode: ExitCode
  }

  /// The export of each entity that is not abstract, without its subentities, in the order in which they are imported.
  public let exports: [PipelineDefinition]
  /// The definition that imports the files, whose names are those of the entities with the ending `.csv`.
  public let pipeline: PipelineDefinition
  /// The path of the copy of the store that is exported: other programs don't change it meanwhile.
  public var store: String { copy.path }
  private let copy: PrivateCopy
  private let original: String

  /// Copies the store and finds out how its objects can be named.
  ///
  /// - Parameters:
  ///   - path: The store.
  ///   - name: The name or path of the store's model; nil for one that is compatible with the store.
  ///   - vocabulary: The vocabulary of the program.
  /// - Throws: ``Failure`` with the relationship that can't be written and the reason.
  public init(store path: String, model name: String? = nil, vocabulary: DefinitionVocabulary) throws(Failure) {
    var copied: String?
    // Messages are about the store.
    func named(_ message: String) -> String {
      copied.map { message.replacingOccurrences(of: $0, with: path) } ?? message
    }
    do {
      if StoreAddress.isAddress(path) {
        throw RunFailure(
          code: nil, exitCode: .usage,
          message: "a whole store is exported from a file; make one with 'copy', and export that")
      }
      guard mayExist(path) else { throw RunFailure(noStore: path) }
      let (copy, _) = try OpenedDatabase.copy(path, isWritten: false)
      copied = copy.path
      try DryRunOnCopy.copyLargeValues(of: path, to: copy.path)
      let own = PipelineDefinition(name: "tables", entity: "", vocabulary: vocabulary).using(model: name)
      let model = try RunModel(own, given: nil, store: copy.path, access: RunModel.Access())
      if model.isOfTables { throw RunModel.unknownModel(of: path) }
      let found = model.model
      let container = NSPersistentContainer(name: "tables", managedObjectModel: found)
      let store = ImportStore(
        container: container, entity: NSEntityDescription(), location: StoreLocation(copy.path), isDryRun: true,
        isAtomic: false,
        lockTimeoutSeconds: 10)
      try store.openExisting()
      defer { store.close() }
      let order = try TableOrder(found, in: container.newBackgroundContext())
      var (exports, parts) = ([PipelineDefinition](), [PipelineDefinition]())
      for entity in order.entities {
        let part = try Self.part(entity, order, vocabulary: vocabulary)
        exports.append(Self.export(of: part).using(model: name))
        parts.append(part)
      }
      var pipeline = PipelineDefinition(
        name: URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent,
        description: "Imports the files next to it into a store", atomic: true, parts: parts, vocabulary: vocabulary
      ).using(model: name)
      pipeline.limits = parts.first?.limits ?? pipeline.limits
      (self.copy, self.exports, self.pipeline, original) = (copy, exports, pipeline, path)
    } catch let refusal as TableRefusal {
      throw Failure(message: refusal.message, exitCode: .dataError)
    } catch let mistake as PipelineError {
      throw Failure(message: named(mistake.message), exitCode: .configuration)
    } catch let failure as RunFailure {
      throw Failure(message: named(failure.message), exitCode: failure.exitCode)
    } catch {
      let failure = RunFailure(reading: error as NSError, path: path)
      throw Failure(message: named(failure.message), exitCode: failure.exitCode)
    }
  }

  /// The pipeline as a file.
  ///
  /// - Throws: `EncodingError`, for a number of it that is not finite.
  public func json() throws -> Data { try json(pipeline) }

  private func json(_ pipeline: PipelineDefinition) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(pipeline.minimalJSON) + Data("\n".utf8)
  }

  /// Writes the pipeline to a file, whole or not at all. A model file is named from there, so that both can be moved
  /// together.
  ///
  /// - Parameter path: The file, which is replaced if it exists.
  /// - Throws: ``Failure`` for a file that can't be written.
  public func writePipeline(to path: String) throws(Failure) {
    do {
      var written = pipeline
      if let model = pipeline.model, PipelineDefinition.isModelPath(model) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        written.model = Self.path(from: folder, to: pipeline.url(for: model))
      }
      try WholeFile.write(
        Array(try json(written)), to: path, permissions: FileRights.ofFile(path, near: original))
    } catch {
      let failure = error as? RunFailure ?? RunFailure(store: error as NSError, path: path)
      throw Failure(message: failure.message, exitCode: failure.exitCode)
    }
  }

  /// The path of a file as seen from a folder.
  private static func path(from folder: URL, to file: URL) -> String {
    let (from, to) = (folder.standardizedFileURL.pathComponents, file.standardizedFileURL.pathComponents)
    let shared = zip(from, to).prefix { $0 == $1 }.count
    let steps = Array(repeating: "..", count: from.count - shared) + to[shared...]
    // A name without a folder could be that of a model of the program.
    return steps.count == 1 ? "./\(steps[0])" : steps.joined(separator: "/")
  }

  // MARK: Entities

  /// The import of an entity: its attributes, and the related objects that its side of a relationship names.
  private static func part(
    _ entity: NSEntityDescription, _ order: TableOrder, vocabulary: DefinitionVocabulary
  ) throws -> PipelineDefinition {
    let name = entity.name ?? ""
    let types = entity.fillableTypes
    var part = PipelineDefinition(entity: name, vocabulary: vocabulary)
    part.source = ["\(name).csv"]
    if order.namesRecords(of: entity) {
      part.columns.append(record(PipelineDefinition.recordName, of: entity))
    }
    for attribute in entity.attributeSlots where !attribute.isTransient && !(attribute is NSDerivedAttributeDescription)
    {
      guard let type = types[attribute.name] else {
        throw TableRefusal(
          message:
            "\(name).\(attribute.name) is of a type that files can't hold; export the entities without it one by one")
      }
      part.columns.append(column(attribute.name, type))
    }
    let relationships = entity.relationshipsByName.values.sorted { $0.name < $1.name }
    for relationship in relationships where order.writes(relationship) {
      guard let destination = relationship.destinationEntity else { continue }
      guard let key = order.key(of: relationship) else {
        var linked = record("\(relationship.name).\(PipelineDefinition.recordName)", of: entity)
        linked.link = LinkDefinition(
          by: [PipelineDefinition.recordName], separator: relationship.isToMany ? LinkDefinition.usualSeparator : nil)
        part.columns.append(linked)
        continue
      }
      for (index, attribute) in key.enumerated() {
        var linked = column("\(relationship.name).\(attribute)", destination.fillableTypes[attribute] ?? .text)
        if index == 0 {
          linked.link = LinkDefinition(
            by: key, ifIncomplete: key.count > 1 ? .match : .reject,
            separator: relationship.isToMany ? LinkDefinition.usualSeparator : nil)
        }
        part.columns.append(linked)
      }
    }
    let linked = Set(part.linkedColumns.map(\.relationship))
    // The other side sets these later.
    if entity.mandatoryRelationships.contains(where: { !linked.contains($0.name) }) { part.relationships = .ignore }
    return part
  }

  /// A column with the numbers of objects, which has a name that no attribute has.
  private static func record(_ attribute: String, of entity: NSEntityDescription) -> ColumnDefinition {
    var name = attribute.replacingOccurrences(of: PipelineDefinition.recordName, with: "record")
    while entity.attributesByName[name] != nil { name += "_" }
    return ColumnDefinition(name, attribute: attribute)
  }

  private static func column(_ name: String, _ type: ColumnType) -> ColumnDefinition {
    ColumnDefinition(name, formats: type == .date ? PipelineDefinition.exactlyReadDates : [])
  }

  private static func export(of part: PipelineDefinition) -> PipelineDefinition {
    var definition = PipelineDefinition(entity: part.entity, vocabulary: part.vocabulary)
    definition.export?.columns = part.columns.map { column in
      let relationship = column.relatedAttribute?.relationship
      let link = part.linkedColumns.first { $0.relationship == relationship }?.link
      return ExportDefinition.Column(column.name, attribute: column.attribute, separator: link?.separator)
    }
    definition.export?.predicate = "entity.name == '\(part.entity)'"
    return definition
  }
}

/// Why a store can't be written as tables.
private struct TableRefusal: Error {
  let message: String
}

/// Which side of each relationship names the objects of the other one, and the order in which that lets entities be
/// imported.
private struct TableOrder {
  private(set) var entities: [NSEntityDescription] = []
  /// The names of root entities that lead over a relationship that only their side can name.
  private var fixed: Set<[String]> = []
  /// What distinguishes the objects of an entity, for a to-many relationship and for a to-one one.
  private var keys: [Bool: [String: [String]]] = [:]
  /// The names of root entities whose objects have nothing of their own that distinguishes them.
  private var numbered: Set<String> = []

  init(_ model: NSManagedObjectModel, in context: NSManagedObjectContext) throws {
    let all = model.entities.filter { !$0.isAbstract }.sorted { $0.name ?? "" < $1.name ?? "" }
    let relationships = all.flatMap(\.relationshipsByName.values)
    for relationship in relationships where Self.isFixed(relationship) == true {
      fixed.insert(Self.ends(relationship))
    }
    for relationship in relationships where !relationship.isTransient { try findKey(of: relationship, in: context) }
    for relationship in relationships where writes(relationship) && key(of: relationship) == nil {
      numbered.insert(Self.ends(relationship)[1])
    }
    var left = all
    while !left.isEmpty {
      let index = left.firstIndex { entity in
        entity.relationshipsByName.values.filter(writes).allSatisfy { relationship in
          let others = (relationship.destinationEntity?.withDescendants ?? []).filter { $0 !== entity }
          return !left.contains { other in others.contains { $0 === other } }
        }
      }
      // An import sets what leads to a later entity at its end.
      entities.append(left.remove(at: index ?? 0))
    }
  }

  /// The root entities at both ends.
  private static func ends(_ relationship: NSRelationshipDescription) -> [String] {
    [relationship.entity.rootEntity.name ?? "", relationship.destinationEntity?.rootEntity.name ?? ""]
  }

  /// Whether this side has to name the objects of the other, or must not; nil if either may.
  private static func isFixed(_ relationship: NSRelationshipDescription) -> Bool? {
    if relationship.isTransient { return false }
    guard let inverse = relationship.inverseRelationship else { return true }
    // Each side keeps an order of its own.
    if relationship.isOrdered, inverse.isOrdered { return true }
    if relationship.isOrdered != inverse.isOrdered { return relationship.isOrdered }
    if relationship.isToMany != inverse.isToMany { return !relationship.isToMany }
    return nil
  }

  /// Whether this side names the objects of the other.
  func writes(_ relationship: NSRelationshipDescription) -> Bool {
    if let known = Self.isFixed(relationship) { return known }
    let ends = Self.ends(relationship)
    if fixed.contains(ends) != fixed.contains(ends.reversed()) { return fixed.contains(ends) }
    let here = key(of: relationship) != nil
    let there = relationship.inverseRelationship.map { key(of: $0) != nil } ?? false
    if here != there { return here }
    let inverse = relationship.inverseRelationship?.name ?? ""
    return (ends[0], relationship.name) <= (ends[1], inverse)
  }

  /// Finds out whether the store distinguishes the objects at the other end.
  private mutating func findKey(of relationship: NSRelationshipDescription, in context: NSManagedObjectContext) throws {
    guard let destination = relationship.destinationEntity, let name = destination.name,
      looked.insert("\(name) \(relationship.isToMany)").inserted
    else { return }
    keys[relationship.isToMany, default: [:]][name] = try NaturalKey.find(
      of: destination, isSingle: relationship.isToMany, in: context)
  }
  private var looked: Set<String> = []

  /// The attributes by which the objects at the other end are named; nil if they have none.
  func key(of relationship: NSRelationshipDescription) -> [String]? {
    keys[relationship.isToMany]?[relationship.destinationEntity?.name ?? ""]
  }

  /// Whether other files name the objects of an entity by their numbers.
  func namesRecords(of entity: NSEntityDescription) -> Bool { numbered.contains(entity.rootEntity.name ?? "") }
}
