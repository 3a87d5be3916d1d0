import Foundation
import OpenCoreData

/// Checks a definition's import part against its model: what an import needs of both, or all mistakes.
struct ImportSchemaCheck {
  let entity: NSEntityDescription
  private(set) var columns: ColumnSet
  private(set) var links: [EntityLink]

  /// `now` is the clock of rules about the future.
  init(_ definition: PipelineDefinition, model: NSManagedObjectModel, now: Date) throws(PipelineError) {
    entity = try definition.entity(in: model)
    guard !entity.isAbstract else {
      let subentities = entity.subentities.compactMap(\.name).sorted()
      throw PipelineError(
        path: "entity",
        "'\(definition.entity)' is abstract, and no object is of it alone; import one of its subentities, "
          + ObjectReader.list(subentities))
    }
    try Self.checkRelationships(definition, entity)
    var (mistakes, linked) = ([PipelineError.Mistake](), (links: [EntityLink](), types: [String: ColumnType]()))
    do {
      linked = try EntityLink.all(definition, entity: entity)
    } catch {
      mistakes = error.mistakes
    }
    do {
      columns = try ColumnSet(
        definition, types: entity.fillableTypes.merging(linked.types) { first, _ in first }, now: now)
    } catch {
      throw PipelineError(mistakes: mistakes + error.mistakes)
    }
    links = linked.links
    for (index, name) in definition.key.enumerated() where entity.slot(named: name) == nil {
      let hint = NearestName.hint(for: name, in: entity.columnTypes.keys.sorted())
      mistakes.append(.init(path: "key[\(index)]", message: "\(definition.entity) has no attribute '\(name)'\(hint)"))
    }
    mistakes += Self.orderMistake(definition, entity).map { [$0] } ?? []
    if !mistakes.isEmpty { throw PipelineError(mistakes: mistakes) }
  }

  /// Notes that the columns are those of the header, and no pipeline declares links.
  mutating func setUndeclared() { for index in links.indices { links[index].isDeclared = false } }

  /// Refuses what a store in PostgreSQL does not keep, also in a dry run on another store.
  mutating func setOnServer(_ dialect: DialectDefinition) throws(PipelineError) {
    columns = try columns.refusingNul(areRead: dialect.nulBytes == .keep)
  }

  /// Looks nothing up that links lead to: a preview has no store.
  mutating func deferLinks() { for index in links.indices { links[index].isLate = true } }

  /// Notes which links lead to entries of later parts, whose root entities have these names, and which of them records of
  /// the run state from both ends: all of these are compared when the entries are in the store.
  ///
  /// - Parameter all: The relationships that columns of the run lead over.
  /// - Throws: `PipelineError` for a relationship that is stated from both ends and can't wait.
  mutating func setLate(
    roots: ArraySlice<String>, among all: [NSRelationshipDescription], _ definition: PipelineDefinition
  ) throws(PipelineError) {
    for index in links.indices where !links[index].isOwnName {
      let link = links[index]
      if let inverse = link.relationship.inverseRelationship, inverse !== link.relationship {
        links[index].isPaired = all.contains { $0 === inverse }
      }
      if links[index].isPaired, link.policy == .create {
        throw PipelineError(
          path: "\(definition.columnPath(link.columns[0])).link.ifMissing",
          "columns lead over '\(link.name)' from both ends, so its objects are records of the run; set it to "
            + "\"reject\" or \"leave\"")
      }
      let root = link.relationship.destinationEntity?.rootEntity.name ?? ""
      if links[index].isPaired || link.policy != .create && roots.contains(root) { links[index].isLate = true }
    }
  }

  /// Texts and bytes are not ordered by age.
  private static func orderMistake(
    _ definition: PipelineDefinition, _ entity: NSEntityDescription
  ) -> PipelineError.Mistake? {
    guard case .keepNewest(let name) = definition.duplicates, let type = entity.columnTypes[name],
      type != .date, !type.isNumber
    else { return nil }
    return .init(
      path: "duplicates.by",
      message: "'\(name)' is \(type.noun), which can't be newer than another; name a date or "
        + "a number")
  }
}

extension ImportSchemaCheck {
  /// Refuses to compare whole records where a key says what is stored, or where only the end of the run says what they
  /// lead to.
  static func checkComparable(_ definition: PipelineDefinition, _ links: [EntityLink]) throws(PipelineError) {
    if !definition.key.isEmpty {
      throw PipelineError(
        path: "key",
        "the pipeline has a key, so 'duplicates' decides about records that the store has; leave --replace and "
          + "--only-new out")
    }
    if let late = links.first(where: \.isLate) {
      throw PipelineError(
        path: definition.columnPath(late.columns[0]),
        "what '\(late.columnName)' leads to may come later in the run, and whole records are compared before that; "
          + "declare a key with \"duplicates\": \"update\" instead of 'changedInputs', --replace or --only-new")
    }
  }

  /// Reported once, and not for every record.
  private static func checkRelationships(
    _ definition: PipelineDefinition, _ entity: NSEntityDescription
  ) throws(PipelineError) {
    let linked = Set(definition.linkedColumns.map(\.relationship))
    let needed = entity.mandatoryRelationships.filter { !linked.contains($0.name) }
    guard definition.relationships == .require, !needed.isEmpty else { return }
    let names = needed.map {
      "'\($0.name)' to \($0.isToMany ? "\($0.minCount) of" : "a") \($0.destinationName)"
    }
    throw PipelineError(
      path: "entity",
      "every \(definition.entity) needs its \(needed.count == 1 ? "relationship" : "relationships") "
        + "\(names.joined(separator: " and ")), and no column leads over it. Add a column with a 'link', or import "
        + "without and set them later by other means: give --without-relationships, or \"relationships\": "
        + "\"ignore\" in the pipeline")
  }

  /// Refuses outputs that would overwrite one another or what the run reads; `rejects` has the path for each input.
  static func checkPaths(
    _ definition: PipelineDefinition, _ options: RunOptions, inputs: [InputFile], hasInbox: Bool, store: String?,
    rejects: [String?]
  ) throws(PipelineError) {
    if inputs.count > 1 || hasInbox, let requested = RejectsDestination.requested(definition, options),
      !RejectsDestination.isFolder(requested)
    {
      throw PipelineError(
        path: "rejects", "several inputs need several files for their rejects; name a folder, ending in '/'")
    }
    let filesRead = inputs.map(\.path)
    try OutputPath.check(ReportFiles.paths(definition, options), key: "report", filesRead: filesRead, store: store)
    try EventLog.checkPath(definition, options, filesRead: filesRead, store: store)
    try OutputPath.check(rejects.compactMap(\.self), key: "rejects", filesRead: filesRead, store: store)
  }
}
