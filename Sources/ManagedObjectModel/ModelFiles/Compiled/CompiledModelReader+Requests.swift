import Foundation

extension CompiledModelReader {
  // MARK: Constraints and indexes

  mutating func readConstraintsAndIndexes(of object: KeyedArchive.Object, _ entity: NSEntityDescription) {
    let constraints = (archive.members(object.values["NSUniqueTuples"]) ?? []).map { tuple in
      (archive.members(tuple) ?? []).compactMap(propertyName)
    }
    let known = entity.propertiesByName
    entity.uniquenessConstraints = constraints.filter { names in
      !names.isEmpty && names.allSatisfy { known[$0] != nil }
    }
    if entity.uniquenessConstraints.count != constraints.count {
      note("A uniqueness constraint of '\(entity.name ?? "")' names properties that it lacks; it is left out.")
    }
    var indexes = (archive.members(object.values["NSFetchIndexDescriptions"]) ?? []).compactMap { index($0, entity) }
    // Before fetch indexes existed, an attribute was marked as indexed; today's framework turns it into an index of
    // that name. Compilers that know fetch indexes mark and list what these cover as well.
    if archive.members(object.values["NSFetchIndexDescriptions"]) == nil {
      indexes += legacyIndexes(of: object, entity)
      indexes += (archive.members(object.values["NSCompoundIndexes"]) ?? [])
        .map { (archive.members($0) ?? []).compactMap(propertyName) }
        .filter { !$0.isEmpty }.map(NSFetchIndexDescription.init(over:))
      indexes.sort { String.byteOrder($0.name, $1.name) }
    }
    entity.indexes = indexes
  }

  private func legacyIndexes(
    of object: KeyedArchive.Object, _ entity: NSEntityDescription
  ) -> [NSFetchIndexDescription] {
    (archive.entries(object.values["NSProperties"]) ?? []).compactMap { key, value in
      guard let part = archive.object(value), archive.flag(part.values["NSIsIndexed"]),
        let own = entity.ownProperties.first(where: { $0.name == key }) as? NSAttributeDescription, !own.isTransient
      else { return nil }
      return NSFetchIndexDescription(over: [key])
    }
  }

  /// Constraints and indexes contain property names or references to properties.
  private func propertyName(_ value: ArchiveValue) -> String? {
    archive.text(value) ?? archive.object(value).flatMap { archive.text($0.values["NSPropertyName"]) }
  }

  private mutating func index(_ value: ArchiveValue, _ entity: NSEntityDescription) -> NSFetchIndexDescription? {
    guard let object = archive.object(value), let name = archive.text(object.values["NSIndexName"]) else { return nil }
    let subject = "The fetch index '\(name)' of '\(entity.name ?? "")'"
    var elements: [NSFetchIndexElementDescription] = []
    for member in archive.members(object.values["NSIndexElements"]) ?? [] {
      guard let element = archive.object(member), let property = indexedName(element) else {
        note("\(subject) covers something other than properties; it is left out.")
        return nil
      }
      let type = archive.integer(element.values["NSFetchIndexElementType"]) == 1
      elements.append(
        NSFetchIndexElementDescription(
          propertyName: property, collationType: type ? .rTree : .binary,
          ascending: archive.flag(element.values["NSAscending"])))
    }
    let index = NSFetchIndexDescription(name: name, elements: elements)
    if archive.resolved(object.values["NSPartialIndexPredicate"]) != .null {
      let text = predicates.predicate(object.values["NSPartialIndexPredicate"])?.formatText
      index.partialIndexPredicate = text.flatMap { try? NSPredicate.parse(format: $0) }
      if index.partialIndexPredicate == nil { note("The condition of \(subject.lowercasedFirst) can't be read.") }
    }
    return index
  }

  /// The indexed property; for an expression, which has a made-up name, its text.
  private func indexedName(_ element: KeyedArchive.Object) -> String? {
    if let indexed = archive.object(element.values["NSIndexedProperty"]),
      let text = predicates.expression(indexed.values["NSExpression"])?.formatText
    {
      return text
    }
    return nonEmpty(element.values["NSPropertyName"])
      ?? predicates.expression(element.values["NSExpression"] ?? element.values["NSFetchIndexElementExpression"])?
      .formatText
  }

  // MARK: Configurations and fetch requests

  func configurations() -> [String: [String]] {
    var result: [String: [String]] = [:]
    for (name, value) in archive.entries(root.values["NSConfigurations"]) ?? []
    where name != NSManagedObjectModel.defaultConfigurationName {
      let members = archive.members(value) ?? archive.entries(value)?.map(\.value) ?? []
      result[name] = members.compactMap { entity($0)?.name }.sorted(by: String.byteOrder)
    }
    return result
  }

  mutating func templates() -> [String: FetchRequestTemplate] {
    var result: [String: FetchRequestTemplate] = [:]
    for (name, value) in archive.entries(root.values["NSFetchRequestTemplates"]) ?? [] {
      result[name] = template(archive.object(value), named: name, "The fetch request '\(name)'")
    }
    return result
  }

  /// The request of a fetched property, under any key.
  func fetchRequest(of object: KeyedArchive.Object) -> KeyedArchive.Object? {
    object.values.sorted { $0.key < $1.key }.lazy.compactMap { archive.object($0.value) }
      .first { $0.className == "NSFetchRequest" }
  }

  /// The bits of a fetch request's flags.
  private enum RequestFlag {
    static let distinct = 1
    static let subentities = 2
    static let propertyValues = 4
    static let faults = 8
  }

  /// Nil, with a note, if the request can't be restored completely: without its predicate it would find too much.
  mutating func template(
    _ request: KeyedArchive.Object?, named name: String, _ subject: String
  ) -> FetchRequestTemplate? {
    guard let request, let entityName = entity(request.values["NSEntity"])?.name else {
      note("\(subject) does not name an entity of the model; it is left out.")
      return nil
    }
    var template = FetchRequestTemplate(name: name, entityName: entityName)
    if archive.resolved(request.values["NSPredicate"]) != .null {
      guard let text = predicates.predicate(request.values["NSPredicate"])?.formatText else {
        note("\(subject) has a predicate that can't be read; it is left out.")
        return nil
      }
      template.predicateFormat = text
    }
    if !(archive.members(request.values["NSSortDescriptors"]) ?? []).isEmpty {
      note("\(subject) is sorted; its order is left out.")
    }
    template.fetchLimit = max(0, archive.integer(request.values["NSFetchLimit"]) ?? 0)
    template.fetchBatchSize = max(0, archive.integer(request.values["NSBatchSize"]) ?? 0)
    guard archive.flag(request.values["NSHasFetchRequestFlags"]) else { return template }
    let flags = archive.integer(request.values["NSFetchRequestFlags"]) ?? 0
    template.returnsDistinctResults = flags & RequestFlag.distinct != 0
    template.includesSubentities = flags & RequestFlag.subentities != 0
    template.includesPropertyValues = flags & RequestFlag.propertyValues != 0
    template.returnsObjectsAsFaults = flags & RequestFlag.faults != 0
    return template
  }
}

extension String {
  fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
