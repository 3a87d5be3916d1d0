import Foundation

/// Reads an `xcmapping.xml`: a list of the editor's objects, with a copy of each model in the form of Xcode 3.
///
/// What the editor leaves out, because it generates it, is generated here by the same rules. An attribute of an object that
/// is not known is an error, as it may change what is migrated.
struct MappingSourceReader {
  private let file: URL
  private let objects: [String: MappingSourceObject]
  private let source: NSManagedObjectModel
  private let destination: NSManagedObjectModel

  static func read(_ data: Data, file: URL) throws -> [FileEntityMapping] {
    let root = try XMLTreeReader.read(data, file: file)
    var objects: [String: MappingSourceObject] = [:]
    var models: [MappingSourceObject] = []
    for node in root.children(named: "object") {
      let object = try MappingSourceObject(node, file: file)
      objects[object.id] = object
      if object.kind == .model { models.append(object) }
    }
    guard let model = models.first, models.count == 1 else {
      throw MappingSourceObject.error("It has \(models.count) mapping models.", in: file, line: root.line)
    }
    let reader = MappingSourceReader(
      file: file, objects: objects, source: try copy("sourcemodeldata", of: model, file),
      destination: try copy("destinationmodeldata", of: model, file))
    return try reader.entities(of: model)
  }

  /// A copy of a model.
  private static func copy(_ name: String, of model: MappingSourceObject, _ file: URL) throws -> NSManagedObjectModel {
    guard let data = try model.data(name) else { throw model.error("It has no \(name), the copy of a model.") }
    do {
      return try ElementsReader.load(archive: data, file: file).model
    } catch {
      let reason = (error as NSError).localizedFailureReason ?? "\(error)"
      throw model.error("Its \(name), the copy of a model, can't be read: \(reason)")
    }
  }

  // MARK: Entities

  private func entities(of model: MappingSourceObject) throws -> [FileEntityMapping] {
    let mappings = try model.references("entitymappings").map { try object($0, .entity, of: model) }
    let numbered = try mappings.map { ($0, try number($0)) }.sorted { $0.1 < $1.1 }.map(\.0)
    let drafts = numbered.map { EntityDraft($0, source: source) }
    return try drafts.map { draft in try entity(draft, among: drafts) }
  }

  private func number(_ mapping: MappingSourceObject) throws -> Int {
    guard let number = mapping.text("mappingnumber").flatMap({ Int($0) }) else {
      throw mapping.error("Its mapping number is not a number.")
    }
    return number
  }

  private func object(
    _ id: String, _ kind: MappingSourceObject.Kind, of owner: MappingSourceObject
  ) throws -> MappingSourceObject {
    guard let object = objects[id], object.kind == kind else {
      throw owner.error("It refers to '\(id)', which is not there or is another kind of object.")
    }
    return object
  }

  private func described(
    _ name: String?, in model: NSManagedObjectModel, _ mapping: MappingSourceObject
  ) throws -> NSEntityDescription? {
    guard let name else { return nil }
    guard let entity = model.entitiesByName[name] else {
      throw mapping.error("It is for the entity '\(name)', which the copy of the model does not have.")
    }
    return entity
  }

  private func entity(_ draft: EntityDraft, among drafts: [EntityDraft]) throws -> FileEntityMapping {
    let object = draft.object
    if let type = object.text("mappingtypename"), type != "Undefined" {
      throw object.error("Its type is '\(type)'; only 'Undefined' is known.")
    }
    let from = try described(draft.sourceName, in: source, object)
    let to = try described(object.text("destinationname"), in: destination, object)
    guard from != nil || to != nil else { throw object.error("It names no entity.") }
    func properties(_ list: String, _ kind: MappingSourceObject.Kind) throws -> [FilePropertyMapping] {
      try object.references(list).map { try self.object($0, kind, of: object) }
        .map { try property($0, from: from, among: drafts) }.sorted { String.byteOrder($0.name, $1.name) }
    }
    return FileEntityMapping(
      name: draft.name, type: object.type(from: from, to: to), source: from?.inFile, destination: to?.inFile,
      sourceExpression: try object.expression("sourceexpressiondata")
        ?? from?.name.map {
          MappingExpressions.objects(of: $0, where: object.text("sourcefilterpredicatestring") ?? "TRUEPREDICATE")
        },
      policyClassName: object.text("migrationpolicyclassname"),
      attributes: try properties("attributemappings", .attribute),
      relationships: try properties("relationshipmappings", .relationship), userInfo: try object.userInfo())
  }

  // MARK: Properties

  /// An expression that the user has written takes precedence, also where the file says that the editor generates one.
  private func property(
    _ object: MappingSourceObject, from entity: NSEntityDescription?, among drafts: [EntityDraft]
  ) throws -> FilePropertyMapping {
    guard let name = object.text("name") else { throw object.error("It has no name.") }
    let written = try object.expression("valueexpressiondata")
    let isGenerated = object.isGenerated && written == nil
    let expression = isGenerated ? try generated(object, name, from: entity, among: drafts) : written
    return FilePropertyMapping(name: name, expression: expression, userInfo: try object.userInfo())
  }

  /// What reads the property of the same name; nil if the source entity has none.
  private func generated(
    _ object: MappingSourceObject, _ name: String, from entity: NSEntityDescription?, among drafts: [EntityDraft]
  ) throws -> NSExpression? {
    guard let entity else { return nil }
    if object.kind == .attribute {
      guard entity.attributesByName[name] != nil else { return nil }
      return MappingExpressions.value(of: try keyPath(name, object))
    }
    let written = object.text("sourcekeypath")
    let path = try keyPath(written ?? name, object)
    if let mapping = object.text("sourcemappingname") { return MappingExpressions.instances(of: path, by: mapping) }
    guard let relationship = entity.relationshipsByName[path] else {
      guard let written else { return nil }
      throw object.error("Its source entity has no relationship '\(written)'.")
    }
    let names = Set((relationship.destinationEntity?.withDescendants ?? []).compactMap(\.name))
    let mappings = drafts.filter { $0.sourceName.map(names.contains) ?? false }
    return switch mappings.count {
    case 0: nil
    case 1: MappingExpressions.instances(of: path, by: mappings[0].name)
    default: MappingExpressions.instances(of: path)
    }
  }
}

/// The text, if a key path of an expression can be made of it.
private func keyPath(_ text: String, _ object: MappingSourceObject) throws -> String {
  do {
    _ = try NSExpression.parse(format: "%K", arguments: [text])
  } catch {
    throw object.error("'\(text)' is not a key path.")
  }
  return text
}

/// An entity mapping whose name is known, so that relationships of others can ask for it.
private struct EntityDraft {
  let object: MappingSourceObject
  let name: String
  let sourceName: String?

  init(_ object: MappingSourceObject, source: NSManagedObjectModel) {
    self.object = object
    sourceName = object.text("sourcename")
    let both = [sourceName, object.text("destinationname")].compactMap(\.self)
    name = object.text("name") ?? both.joined(separator: "To")
  }
}

extension NSEntityDescription {
  fileprivate var inFile: FileEntity {
    FileEntity(name: name ?? "", versionHash: hasExactVersionHash ? versionHash : nil)
  }
}

extension MappingSourceObject {
  /// The type, which the editor does not let the user choose.
  fileprivate func type(from source: NSEntityDescription?, to destination: NSEntityDescription?) -> Int {
    let (custom, add, remove, copy, transform) = (1, 2, 3, 4, 5)
    guard let source else { return add }
    guard let destination else { return remove }
    if text("migrationpolicyclassname") != nil { return custom }
    return Set(source.attributesByName.keys) == Set(destination.attributesByName.keys) ? copy : transform
  }
}
