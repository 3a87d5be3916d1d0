import Foundation

/// Builds a model from the object table of its archive.
///
/// The key names are those of existing compiled models; the compiler's version determines which of them are present.
/// Entities reference each other in cycles, so all of them are created first, and references are set later.
struct CompiledModelReader {
  let archive: KeyedArchive
  let predicates: ArchivedPredicateReader
  let root: KeyedArchive.Object
  private(set) var notes: [String] = []
  /// Entities that lost a property which stores keep: the stated hash then belongs to a different description.
  var incompleteEntityNames: Set<String> = []
  /// By their indexes in the archive, with their parts.
  private var entities: [Int: NSEntityDescription] = [:]
  private var objects: [(object: KeyedArchive.Object, entity: NSEntityDescription)] = []
  private var entitiesByName: [String: NSEntityDescription] = [:]

  init(_ data: Data) throws(ArchiveProblem) {
    archive = try KeyedArchive(data)
    predicates = ArchivedPredicateReader(archive: archive)
    guard let root = archive.object(archive.root), root.values["NSEntities"] != nil else {
      let name = archive.object(archive.root)?.className
      throw ArchiveProblem("it is an archive of \(name.map { "'\($0)'" } ?? "something else"), not of a model")
    }
    self.root = root
  }

  mutating func read() throws(ArchiveProblem) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    try readEntities()
    model.entities = objects.map(\.entity)
    try connectInheritance()
    for (object, entity) in superentitiesFirst { readProperties(of: object, entity) }
    for (object, entity) in objects { connectRelationships(of: object, entity) }
    for (object, entity) in objects { readConstraintsAndIndexes(of: object, entity) }
    model.versionIdentifiers = Set(
      (archive.members(root.values["NSVersionIdentifiers"]) ?? []).compactMap { archive.text($0) })
    model.entityNamesByConfiguration = configurations()
    model.fetchRequestTemplates = templates()
    return model
  }

  mutating func note(_ sentence: String) {
    // The same problem in every entity must not fill a screen.
    if notes.count < Self.notesMax { notes.append(sentence) }
  }
  private static let notesMax = 100

  func entity(_ value: ArchiveValue?) -> NSEntityDescription? {
    if let object = archive.object(value), let entity = entities[object.index] { return entity }
    let name = archive.text(value) ?? archive.object(value).flatMap { archive.text($0.values["NSEntityName"]) }
    return name.flatMap { entitiesByName[$0] }
  }

  // MARK: Entities

  private mutating func readEntities() throws(ArchiveProblem) {
    guard let entries = archive.entries(root.values["NSEntities"]) else {
      throw ArchiveProblem("its entities are damaged")
    }
    var names: Set<String> = []
    for (key, value) in entries.sorted(by: { String.byteOrder($0.key, $1.key) }) {
      guard let object = archive.object(value) else { throw ArchiveProblem("its entity '\(key)' is damaged") }
      let name = archive.text(object.values["NSEntityName"]) ?? key
      guard !name.isEmpty, names.insert(name).inserted, entities[object.index] == nil else {
        throw ArchiveProblem("it has two entities named '\(name)'")
      }
      let entity = entity(named: name, object)
      entities[object.index] = entity
      objects.append((object, entity))
      entitiesByName[name] = entity
    }
  }

  private func entity(named name: String, _ object: KeyedArchive.Object) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    if let className = archive.text(object.values["NSClassNameForEntity"]), className != "NSManagedObject" {
      entity.representedClassName = className
      entity.managedObjectClassName = className.hasPrefix(".") ? String(className.dropFirst()) : className
    }
    entity.isAbstract = archive.flag(object.values["NSIsAbstract"])
    entity.versionHashModifier = nonEmpty(object.values["NSVersionHashModifier"])
    entity.explicitRenamingIdentifier = renamingIdentifier(object, name: name)
    entity.userInfo = userInfo(object)
    return entity
  }

  private func connectInheritance() throws(ArchiveProblem) {
    var children: [ObjectIdentifier: [NSEntityDescription]] = [:]
    let parents = parentsBySubentity
    for (object, entity) in objects {
      guard let parent = self.entity(object.values["NSSuperentity"]) ?? parents[object.index] else { continue }
      guard parent !== entity else { throw ArchiveProblem("its entity '\(entity.name ?? "")' inherits from itself") }
      children[ObjectIdentifier(parent), default: []].append(entity)
    }
    for (_, entity) in objects {
      if let own = children[ObjectIdentifier(entity)] { entity.subentities = own }
    }
    for (_, entity) in objects {
      if let problem = entity.inheritanceProblem {
        throw ArchiveProblem("its entity '\(entity.name ?? "")' \(problem)")
      }
    }
  }

  /// The first entity that lists another one among its subentities, by the index of that one in the archive, for
  /// archives that store only this direction.
  private var parentsBySubentity: [Int: NSEntityDescription] {
    var parents: [Int: NSEntityDescription] = [:]
    for (object, entity) in objects {
      for (_, value) in archive.entries(object.values["NSSubentities"]) ?? [] {
        guard let index = archive.object(value)?.index, parents[index] == nil else { continue }
        parents[index] = entity
      }
    }
    return parents
  }

  private var superentitiesFirst: [(object: KeyedArchive.Object, entity: NSEntityDescription)] {
    objects.map { ($0, $0.entity.ancestry.count) }.sorted { $0.1 < $1.1 }.map(\.0)
  }

  private mutating func readProperties(of object: KeyedArchive.Object, _ entity: NSEntityDescription) {
    // Models within stores repeat inherited properties in every entity.
    let inherited = Set(entity.superentity?.properties.map(\.name) ?? [])
    var properties: [NSPropertyDescription] = []
    var names = inherited
    for (key, value) in archive.entries(object.values["NSProperties"]) ?? [] {
      guard let part = archive.object(value) else {
        note("The property '\(key)' of '\(entity.name ?? "")' is damaged and left out.")
        incompleteEntityNames.insert(entity.name ?? "")
        continue
      }
      let name = nonEmpty(part.values["NSPropertyName"]) ?? key
      guard !name.isEmpty, names.insert(name).inserted else { continue }
      if let property = property(named: name, part, of: entity) { properties.append(property) }
    }
    entity.properties = properties.sorted { String.byteOrder($0.name, $1.name) }
  }

  // MARK: Common parts

  func nonEmpty(_ value: ArchiveValue?) -> String? {
    archive.text(value).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Archives always have one; it is significant only if it differs from the name.
  func renamingIdentifier(_ object: KeyedArchive.Object, name: String) -> String? {
    nonEmpty(object.values["NSRenamingIdentifier"]).flatMap { $0 == name ? nil : $0 }
  }

  func userInfo(_ object: KeyedArchive.Object) -> [AnyHashable: Any]? {
    let entries = archive.entries(object.values["NSUserInfo"]) ?? []
    let pairs = entries.compactMap { key, value in
      archive.foundationValue(value).map { (AnyHashable(key), $0) }
    }
    return pairs.isEmpty ? nil : Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }
}
