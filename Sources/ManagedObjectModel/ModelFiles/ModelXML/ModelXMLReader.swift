import Foundation

/// Builds a model from the XML of an `.xcdatamodel`'s `contents` (docs/coredata-format.md, "Model XML").
///
/// Unknown attributes and elements are ignored, as newer editors add some. Missing names, unknown types, and parents,
/// destinations or inverses that do not exist are errors.
struct ModelXMLReader {
  let file: URL?

  func read(_ data: Data) throws -> NSManagedObjectModel {
    do {
      return try read(XMLTreeReader.read(data, file: file))
    } catch let error as ModelFileError {
      throw error.nsError
    }
  }

  /// - Throws: `ModelFileError`.
  func read(_ root: XMLElementNode) throws -> NSManagedObjectModel {
    guard root.name == "model" else {
      throw error(
        at: root, "The top element is '\(root.name)', not 'model'.",
        advice: "Give the contents file of an .xcdatamodel.")
    }
    let nodes = root.children(named: "entity")
    var entities: [NSEntityDescription] = []
    var byName: [String: NSEntityDescription] = [:]
    for node in nodes {
      let entity = try entity(from: node)
      guard byName.updateValue(entity, forKey: entity.name ?? "") == nil else {
        throw error(at: node, "There are two entities named '\(entity.name ?? "")'.", advice: "Rename one of them.")
      }
      entities.append(entity)
    }
    let model = NSManagedObjectModel()
    // At once: the model tells all its entities that they are its own whenever it is given others.
    model.entities = entities
    try connectInheritance(nodes, byName)
    try connectRelationships(nodes, byName)
    try checkReferences(nodes, byName)
    model.versionIdentifiers = [root.attributes["userDefinedModelVersionIdentifier"] ?? ""]
    model.entityNamesByConfiguration = try configurations(root, byName)
    model.fetchRequestTemplates = try fetchRequests(root, byName)
    return model
  }

  private func entity(from node: XMLElementNode) throws -> NSEntityDescription {
    let entity = NSEntityDescription()
    let name = try requiredName(node)
    entity.name = name
    entity.representedClassName = node.text("representedClassName")
    entity.managedObjectClassName =
      entity.representedClassName.map { $0.hasPrefix(".") ? String($0.dropFirst()) : $0 } ?? "NSManagedObject"
    entity.codeGenerationType = node.text("codeGenerationType")
    entity.isAbstract = node.flag("isAbstract")
    entity.isSyncable = node.flag("syncable", default: true)
    entity.versionHashModifier = node.text("versionHashModifier")
    entity.explicitRenamingIdentifier = node.text("elementID")
    entity.userInfo = userInfo(node)
    let properties = try node.children.compactMap { try property(from: $0, of: name) }
    var seen: Set<String> = []
    for (property, line) in properties where !seen.insert(property.name).inserted {
      throw ModelFileError(
        file: file, line: line, problem: "Entity '\(name)' has two properties named '\(property.name)'.",
        advice: "Rename one of them.")
    }
    entity.properties = properties.map(\.property)
    entity.uniquenessConstraints = node.children(named: "uniquenessConstraints")
      .flatMap { $0.children(named: "uniquenessConstraint") }
      .map { $0.children(named: "constraint").compactMap { $0.text("value") } }
      .filter { !$0.isEmpty }
    entity.indexes = try indexes(of: node)
    return entity
  }

  private func property(
    from node: XMLElementNode, of entity: String
  ) throws -> (property: NSPropertyDescription, line: Int)? {
    let property: NSPropertyDescription
    switch node.name {
    case "attribute": property = try AttributeXMLReader(file: file, node: node, entity: entity).read()
    case "relationship": property = try relationship(from: node)
    case "fetchedProperty": property = try fetchedProperty(from: node)
    default: return nil
    }
    property.name = try requiredName(node)
    property.isOptional = node.flag("optional")
    property.isTransient = node.flag("transient")
    property.versionHashModifier = node.text("versionHashModifier")
    property.explicitRenamingIdentifier = node.text("elementID")
    property.isIndexedBySpotlight = node.flag("spotlightIndexingEnabled")
    property.isStoredInExternalRecord = node.flag("storedInTruthFile")
    property.isSyncable = node.flag("syncable", default: true)
    property.userInfo = userInfo(node)
    return (property, node.line)
  }

  private func relationship(from node: XMLElementNode) throws -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    let isToMany = node.flag("toMany")
    relationship.minCount = try integer("minCount", of: node) ?? 0
    relationship.maxCount = try integer("maxCount", of: node) ?? (isToMany ? 0 : 1)
    relationship.isOrdered = node.flag("ordered")
    let rule = node.text("deletionRule") ?? "Nullify"
    guard let deleteRule = Self.deleteRules[rule] else {
      throw error(
        at: node, "The deletion rule '\(rule)' is unknown.", advice: "Use one of: Cascade, Deny, No Action, Nullify.")
    }
    relationship.deleteRule = deleteRule
    return relationship
  }

  private static let deleteRules: [String: NSDeleteRule] = [
    "No Action": .noActionDeleteRule, "Nullify": .nullifyDeleteRule,
    "Cascade": .cascadeDeleteRule, "Deny": .denyDeleteRule,
  ]

  /// What older declarations make, in the order of the names, then the fetch indexes in theirs. A fetch index replaces an
  /// older declaration of the same name.
  private func indexes(of node: XMLElementNode) throws -> [NSFetchIndexDescription] {
    let indexes = try node.children(named: "fetchIndex").map(fetchIndex)
    let older = try node.children.compactMap(legacyIndex) + compoundIndexes(of: node)
    return older.filter { old in !indexes.contains { $0.name == old.name } }
      .sorted { String.byteOrder($0.name, $1.name) } + indexes
  }

  /// Before fetch indexes existed, an attribute was marked as indexed; today's framework turns it into an index of that
  /// name.
  private func legacyIndex(from node: XMLElementNode) throws -> NSFetchIndexDescription? {
    guard node.name == "attribute", node.flag("indexed"), !node.flag("transient") else { return nil }
    return NSFetchIndexDescription(over: [try requiredName(node)])
  }

  private func compoundIndexes(of node: XMLElementNode) -> [NSFetchIndexDescription] {
    node.children(named: "compoundIndexes").flatMap { $0.children(named: "compoundIndex") }
      .map { $0.children(named: "index").compactMap { $0.text("value") } }
      .filter { !$0.isEmpty }.map(NSFetchIndexDescription.init(over:))
  }

  private func fetchIndex(from node: XMLElementNode) throws -> NSFetchIndexDescription {
    let elements = try node.children(named: "fetchIndexElement").map { element in
      guard let property = element.text("property") ?? element.text("expression") else {
        throw error(at: element, "An index element names no property.", advice: "Add the attribute property=\"…\".")
      }
      return NSFetchIndexElementDescription(
        propertyName: property, collationType: element.text("type") == "RTree" ? .rTree : .binary,
        ascending: element.text("order") != "descending")
    }
    return NSFetchIndexDescription(name: try requiredName(node), elements: elements)
  }
}

extension ModelXMLReader {
  func requiredName(_ node: XMLElementNode) throws -> String {
    guard let name = node.text("name") else {
      throw error(at: node, "This '\(node.name)' element has no name.", advice: "Add the attribute name=\"…\".")
    }
    return name
  }

  func integer(_ attribute: String, of node: XMLElementNode) throws -> Int? {
    guard let text = node.text(attribute) else { return nil }
    guard let number = Int(text) else {
      throw error(at: node, "\(attribute) is '\(text)', not a whole number.", advice: "Write digits only.")
    }
    return number
  }

  func userInfo(_ node: XMLElementNode) -> [AnyHashable: Any]? {
    let entries = node.children(named: "userInfo").flatMap { $0.children(named: "entry") }
    guard !entries.isEmpty else { return nil }
    return Dictionary(
      entries.compactMap { entry in
        entry.text("key").map { (AnyHashable($0), entry.attributes["value"] ?? "") }
      }, uniquingKeysWith: { _, last in last })
  }

  func error(at node: XMLElementNode, _ problem: String, advice: String) -> ModelFileError {
    ModelFileError(file: file, line: node.line, problem: problem, advice: advice)
  }
}
