import ManagedObjectModel
import OpenCoreData
import PersistentStores

/// A relationship that columns lead over, compiled for the entity of a pipeline.
struct EntityLink: Sendable {
  let relationship: NSRelationshipDescription
  /// The entity whose attributes the columns fill: the destination, or a subentity of one that is abstract.
  let entity: NSEntityDescription
  /// The attributes that identify an object, by name.
  let by: [String]
  let policy: LinkDefinition.MissingPolicy
  let incomplete: LinkDefinition.IncompletePolicy
  let different: LinkDefinition.DifferencePolicy
  /// The bytes between values; nil for a to-one relationship.
  var separator: [UInt8]?
  /// Indices of the pipeline's columns.
  let columns: [Int]
  /// Whether what it leads to is looked up when all entries of the run are in the store: entries of the own entity or of a
  /// later part may come after the records that name them.
  var isLate = false
  /// Whether columns of the run also lead over the relationship from its other end.
  var isPaired = false
  /// Whether a pipeline declares it; a column can also lead somewhere by its name alone.
  var isDeclared = true
  /// Whether it leads to records by the names that they give themselves.
  var isByRecord: Bool { by == [PipelineDefinition.recordName] }
  /// Whether it stands for the column in which records name themselves.
  fileprivate(set) var isOwnName = false
  /// Index of the first link to the same entity: they find and create the same objects.
  fileprivate(set) var group = 0
  /// The name of the column that identifies the object, for messages.
  let columnName: String

  var name: String { relationship.name }
  var destinationName: String { relationship.destinationEntity?.name ?? "" }

  /// The slots of `by`.
  let identifyingSlots: [Int]
  /// The slots of the other columns.
  let otherSlots: [Int]
  /// Those whose values are compared with the object's.
  var comparedSlots: [Int] { different == .keep ? [] : otherSlots }
  /// Whether an object can belong to one entry only. Without an inverse a to-many relationship is a key of its objects.
  var isExclusive: Bool { relationship.inverseRelationship.map { !$0.isToMany } ?? relationship.isToMany }

  /// Values of a new object where its record has none, as the stack sets them.
  var defaults: [(slot: Int, value: StoredValue)] {
    entity.attributeSlots.enumerated().compactMap { slot, attribute in
      let value = attribute.defaultStoredValue
      guard value != .null, !identifyingSlots.contains(slot), !(attribute is NSDerivedAttributeDescription) else {
        return nil
      }
      return (slot, value)
    }
  }

  /// What can be done with the settings of the link, for messages.
  func advice(_ setting: String) -> String {
    isDeclared ? setting : "write a pipeline with a 'link' for \(name), and \(setting)"
  }

  /// The attribute of the related entity that a column fills.
  func attribute(of column: ColumnDefinition) -> String? {
    isOwnName ? PipelineDefinition.recordName : column.relatedAttribute?.name
  }

  /// A value of an object, for messages; empty for none.
  func text(_ value: StoredValue, slot: Int) -> String {
    switch value {
    case .null: ""
    case .integer(let number): "\(number)"
    case .real(let number) where entity.attributeSlots[slot].attributeType == .dateAttributeType:
      DateFormat.iso8601.string(number) ?? "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): RawText.shortened(text.utf8)
    case .decimal(let number): "\(number)"
    case .blob(let data): "\(data.count) bytes"
    }
  }

  /// Digests the attributes that identify an object, in batches of `entity`: the destination or a subentity.
  func digester(of entity: NSEntityDescription) -> RowDigester {
    var digester = RowDigester()
    digester.keySlots = by.compactMap { entity.slot(named: $0) }
    return digester
  }

  /// The links of a definition, and what its columns of related entities have as types, by attribute.
  ///
  /// - Throws: `PipelineError` with every mistake in the use of the model.
  static func all(
    _ definition: PipelineDefinition, entity: NSEntityDescription
  ) throws(PipelineError) -> (links: [EntityLink], types: [String: ColumnType]) {
    var (links, types, mistakes) = ([EntityLink](), [String: ColumnType](), [PipelineError.Mistake]())
    for group in definition.linkedColumns {
      var check = LinkCheck(definition, group, entity: entity)
      if let (link, found) = check.compiled() {
        links.append(link)
        types.merge(found) { first, _ in first }
      }
      mistakes += check.mistakes
    }
    mistakes += group(&links, definition)
    if let index = definition.columns.firstIndex(where: { $0.attribute == PipelineDefinition.recordName }) {
      links.append(EntityLink(namingIn: index, definition))
      types[PipelineDefinition.recordName] = .text
    }
    if !mistakes.isEmpty { throw PipelineError(mistakes: mistakes) }
    return (links, types)
  }
}

extension EntityLink {
  fileprivate init(
    _ group: LinkedColumns, over relationship: NSRelationshipDescription, to entity: NSEntityDescription,
    _ definition: PipelineDefinition
  ) {
    (self.relationship, self.entity) = (relationship, entity)
    (by, policy, different) = (group.link.by, group.link.ifMissing, group.link.ifDifferent)
    incomplete = group.link.ifIncomplete
    separator = group.link.separator.map { Array($0.utf8) }
    columns = group.columns.map(\.index)
    identifyingSlots = by.compactMap { entity.slot(named: $0) }
    otherSlots = group.columns.compactMap { entity.slot(named: $0.attribute) }
      .filter { [identifyingSlots] in !identifyingSlots.contains($0) }.sorted()
    let named = group.columns.first { group.link.by.contains($0.attribute) } ?? group.columns[0]
    columnName = definition.columns[named.index].name
  }

  /// The column in which records name themselves, as if it led to an entity of their names.
  fileprivate init(namingIn column: Int, _ definition: PipelineDefinition) {
    (relationship, entity) = (NSRelationshipDescription(), RecordNameEntity.entity)
    (by, policy, different, incomplete) = ([PipelineDefinition.recordName], .leave, .keep, .match)
    (separator, columns, identifyingSlots, otherSlots) = (nil, [column], [0], [])
    columnName = definition.columns[column].name
    (isLate, isOwnName, group) = (true, true, -1)
  }

  /// Groups the links to one entity, and finds those that would find its objects in different ways: what one creates, the
  /// other could create again.
  private static func group(
    _ links: inout [EntityLink], _ definition: PipelineDefinition
  ) -> [PipelineError.Mistake] {
    var mistakes: [PipelineError.Mistake] = []
    for index in links.indices where !links[index].isLate {
      let link = links[index]
      let root = link.entity.rootEntity
      let first = links[..<index].firstIndex { !$0.isLate && $0.entity.rootEntity === root } ?? index
      links[index].group = first
      let other = links[first]
      if other.relationship.destinationEntity === link.relationship.destinationEntity, other.by == link.by,
        other.policy == link.policy
      {
        continue
      }
      if [other, link].contains(where: { $0.different == .update }) {
        mistakes.append(
          .init(
            path: definition.columnPath(link.columns[0]),
            message:
              "'\(other.name)' and '\(link.name)' lead to the same objects of \(root.name ?? ""), and one of them "
              + "changes their values; give both the same 'by' and 'ifMissing'"))
        continue
      }
      if other.policy != .create, link.policy != .create {
        links[index].group = index
        continue
      }
      mistakes.append(
        .init(
          path: definition.columnPath(link.columns[0]),
          message: "'\(other.name)' and '\(link.name)' lead to the same objects of \(root.name ?? ""), and one of them "
            + "creates what is missing; give both the same 'by' and 'ifMissing'"))
    }
    return mistakes
  }
}

/// Checks the columns of one relationship against the model.
private struct LinkCheck {
  private let definition: PipelineDefinition
  private let group: LinkedColumns
  private let entity: NSEntityDescription
  private(set) var mistakes: [PipelineError.Mistake] = []

  init(_ definition: PipelineDefinition, _ group: LinkedColumns, entity: NSEntityDescription) {
    (self.definition, self.group, self.entity) = (definition, group, entity)
  }

  private var entityName: String { entity.name ?? "" }
  private var path: String { definition.columnPath(group.columns.first?.index ?? 0) }
  private var linkPath: String {
    let index = group.columns.first { definition.columns[$0.index].link != nil }?.index ?? 0
    return "\(definition.columnPath(index)).link"
  }

  private mutating func note(_ path: String, _ message: String) {
    mistakes.append(.init(path: path, message: message))
  }

  /// Nil with `mistakes` if the model does not allow it.
  mutating func compiled() -> (EntityLink, [String: ColumnType])? {
    guard let relationship = entity.relationshipsByName[group.relationship],
      let destination = relationship.destinationEntity
    else {
      noteUnknownRelationship()
      return nil
    }
    checkKind(relationship)
    checkCreation(of: destination, over: relationship)
    let isByRecord = group.columns.contains { $0.attribute == PipelineDefinition.recordName }
    let isLate = isByRecord || destination.rootEntity === entity.rootEntity
    if isLate, group.link.ifMissing == .create {
      note(
        "\(linkPath).ifMissing",
        "'\(relationship.name)' leads to \(destination.name ?? ""), and records of the run are such entries: one "
          + "that is missing can't be distinguished from one that comes later; set it to \"reject\" or \"leave\"")
    }
    if isByRecord { return compiledByRecord(relationship) }
    let known = destination.fillableTypes
    var types: [String: ColumnType] = [:]
    for (index, name) in group.columns {
      guard let type = known[name] else {
        note(
          definition.columnPath(index),
          "\(destination.name ?? "") has no attribute '\(name)' that a column can fill; it has "
            + ObjectReader.list(known.keys.sorted()) + NearestName.hint(for: name, in: known.keys.sorted()))
        continue
      }
      types["\(group.relationship).\(name)"] = type
    }
    guard mistakes.isEmpty, let kept = destination.withDescendants.first(where: { !$0.isAbstract }) else { return nil }
    var link = EntityLink(group, over: relationship, to: kept, definition)
    link.isLate = isLate
    return (link, types)
  }

  /// A link to records by the names that they give themselves in the files of the run.
  private mutating func compiledByRecord(
    _ relationship: NSRelationshipDescription
  ) -> (EntityLink, [String: ColumnType])? {
    if group.columns.count > 1 {
      note(
        linkPath,
        "'\(PipelineDefinition.recordName)' alone says which record is meant; remove the other columns of "
          + "'\(relationship.name)'")
    }
    if !mistakes.isEmpty { return nil }
    var link = EntityLink(group, over: relationship, to: RecordNameEntity.entity, definition)
    link.isLate = true
    return (link, ["\(group.relationship).\(PipelineDefinition.recordName)": .text])
  }

  private mutating func noteUnknownRelationship() {
    let known = entity.relationshipsByName.keys.sorted()
    if entity.attributesByName[group.relationship] != nil {
      return note(path, "'\(group.relationship)' of \(entityName) is an attribute, and nothing lies beyond it")
    }
    note(
      path,
      "\(entityName) has no relationship '\(group.relationship)'; it has "
        + (known.isEmpty ? "none" : ObjectReader.list(known)) + NearestName.hint(for: group.relationship, in: known))
  }

  private mutating func checkKind(_ relationship: NSRelationshipDescription) {
    if relationship.isTransient {
      note(path, "'\(relationship.name)' is not kept in stores, so the column would have no effect; remove it")
    }
    if relationship.isToMany, group.link.separator == nil {
      note(
        linkPath,
        "'\(relationship.name)' of \(entityName) leads to many \(relationship.destinationName), and the separator "
          + "between their names is not defined; add \"separator\": \";\"")
    }
    if !relationship.isToMany, group.link.separator != nil {
      note(
        "\(linkPath).separator",
        "'\(relationship.name)' of \(entityName) leads to one \(relationship.destinationName); remove the separator")
    }
  }

  private mutating func checkCreation(of destination: NSEntityDescription, over link: NSRelationshipDescription) {
    guard group.link.ifMissing == .create else { return }
    let name = destination.name ?? ""
    if destination.isAbstract {
      note(
        "\(linkPath).ifMissing",
        "\(name) is abstract, so no object of it can be created; set it to \"reject\" or \"leave\"")
    }
    let needed = destination.mandatoryRelationships.filter { $0.inverseRelationship !== link }
    guard definition.relationships == .require, let first = needed.first else { return }
    note(
      "\(linkPath).ifMissing",
      "every \(name) needs its relationship '\(first.name)', which no column sets, so none can be created; set it to "
        + "\"reject\" or \"leave\"")
  }
}
