import Foundation

/// The second pass over a model file: it resolves references by name.
extension ModelXMLReader {
  typealias Entities = [String: NSEntityDescription]

  func connectInheritance(_ nodes: [XMLElementNode], _ entities: Entities) throws {
    var children: [String: [NSEntityDescription]] = [:]
    for node in nodes {
      guard let parent = node.text("parentEntity"), let entity = entities[node.text("name") ?? ""] else {
        continue
      }
      guard entities[parent] != nil else {
        throw error(
          at: node, "The parent entity '\(parent)' does not exist.", advice: "Add it, or correct parentEntity.")
      }
      children[parent, default: []].append(entity)
    }
    for (parent, subentities) in children { entities[parent]?.subentities = subentities }
    for node in nodes {
      guard let entity = entities[node.text("name") ?? ""] else { continue }
      guard let problem = entity.inheritanceProblem else { continue }
      throw error(
        at: node, "'\(entity.name ?? "")' \(problem).", advice: "Break the cycle or chain of parent entities.")
    }
  }

  func connectRelationships(_ nodes: [XMLElementNode], _ entities: Entities) throws {
    try forEachRelationship(in: nodes, entities: entities) { node, relationship in
      guard let name = node.text("destinationEntity") else {
        throw error(
          at: node, "Relationship '\(relationship.name)' has no destination.", advice: "Add destinationEntity=\"…\".")
      }
      guard let destination = entities[name] else {
        throw error(
          at: node, "Relationship '\(relationship.name)' leads to '\(name)', which does not exist.",
          advice: "Add that entity, or correct destinationEntity.")
      }
      relationship.destinationEntity = destination
    }
    // Looked up once for each entity: they are collected from it and its superentities.
    var properties: [ObjectIdentifier: [String: NSPropertyDescription]] = [:]
    try forEachRelationship(in: nodes, entities: entities) { node, relationship in
      guard let name = node.text("inverseName") else { return }
      let holder = node.text("inverseEntity").flatMap { entities[$0] } ?? relationship.destinationEntity
      if let holder, properties[ObjectIdentifier(holder)] == nil {
        properties[ObjectIdentifier(holder)] = holder.propertiesByName
      }
      let inverse = holder.flatMap { properties[ObjectIdentifier($0)]?[name] }
      guard let inverse = inverse as? NSRelationshipDescription else {
        throw error(
          at: node,
          "Relationship '\(relationship.name)' has the inverse '\(name)', which "
            + "'\(holder?.name ?? "")' lacks.",
          advice: "Add that relationship there, or correct inverseName.")
      }
      relationship.inverseRelationship = inverse
    }
  }

  private func forEachRelationship(
    in nodes: [XMLElementNode], entities: Entities,
    _ body: (XMLElementNode, NSRelationshipDescription) throws -> Void
  ) throws {
    for node in nodes {
      let properties = entities[node.text("name") ?? ""]?.ownProperties ?? []
      let byName = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
      for child in node.children(named: "relationship") {
        guard let found = byName[child.text("name") ?? ""] as? NSRelationshipDescription else { continue }
        try body(child, found)
      }
    }
  }

  /// Uniqueness constraints must name properties that the entity has, and fetched properties entities of the model.
  func checkReferences(_ nodes: [XMLElementNode], _ entities: Entities) throws {
    for node in nodes {
      guard let entity = entities[node.text("name") ?? ""] else { continue }
      for property in entity.ownProperties {
        guard let asked = (property as? NSFetchedPropertyDescription)?.template?.entityName, entities[asked] == nil
        else {
          continue
        }
        throw error(
          at: node, "Fetched property '\(property.name)' asks for '\(asked)', which does not exist.",
          advice: "Correct the entity of its fetchRequest.")
      }
      let known = entity.propertiesByName
      for name in entity.uniquenessConstraintNames.joined() where known[name] == nil {
        throw error(
          at: node, "A uniqueness constraint of '\(entity.name ?? "")' names '\(name)', which it lacks.",
          advice: "Correct or remove the constraint.")
      }
    }
  }

  func configurations(_ root: XMLElementNode, _ entities: Entities) throws -> [String: [String]] {
    var result: [String: [String]] = [:]
    for node in root.children(named: "configuration") {
      let members = node.children(named: "memberEntity").compactMap { $0.text("name") }
      if let unknown = members.first(where: { entities[$0] == nil }) {
        throw error(
          at: node, "The configuration has the member '\(unknown)', which does not exist.",
          advice: "Correct or remove it.")
      }
      result[try requiredName(node)] = members
    }
    return result
  }

  func fetchRequests(_ root: XMLElementNode, _ entities: Entities) throws -> [String: FetchRequestTemplate] {
    var result: [String: FetchRequestTemplate] = [:]
    for node in root.children(named: "fetchRequest") {
      let template = try fetchRequest(from: node)
      guard entities[template.entityName] != nil else {
        throw error(
          at: node, "Fetch request '\(template.name)' asks for '\(template.entityName)', which does not exist.",
          advice: "Correct its entity.")
      }
      result[template.name] = template
    }
    return result
  }

  func fetchedProperty(from node: XMLElementNode) throws -> NSFetchedPropertyDescription {
    let property = NSFetchedPropertyDescription()
    property.template = try node.children(named: "fetchRequest").first.map(fetchRequest)
    return property
  }

  private func fetchRequest(from node: XMLElementNode) throws -> FetchRequestTemplate {
    var template = FetchRequestTemplate(
      name: try requiredName(node), entityName: node.text("entity") ?? "",
      predicateFormat: node.text("predicateString"))
    template.fetchLimit = try integer("fetchLimit", of: node) ?? 0
    template.fetchBatchSize = try integer("fetchBatchSize", of: node) ?? 0
    template.includesSubentities = node.flag("includeSubentities", default: true)
    template.includesPropertyValues = node.flag("includesPropertyValues", default: true)
    template.returnsObjectsAsFaults = node.flag("returnObjectsAsFaults", default: true)
    template.returnsDistinctResults = node.flag("returnDistinctResults")
    return template
  }
}
