import OpenCoreData

/// How a pipeline identifies entries: its key, its columns that must be unique, the constraints of the model.
struct KeyRules {
  let definition: PipelineDefinition
  let entity: NSEntityDescription
  let columns: ColumnSet
  var links: [EntityLink] = []
  /// Whether whole records are compared instead of a key.
  var comparesWholeRecords = false
  /// Whether workers of several machines compare keys.
  var areShared = false

  /// The matcher for an input with the columns of `mapping`.
  func matcher(_ mapping: HeaderMapping) -> EntryMatcher {
    EntryMatcher(definition, digester(mapping), entity: entity, uniquenesses: uniquenesses)
  }

  /// A matcher of whole records, whatever the pipeline compares.
  func wholeRecordMatcher(_ mapping: HeaderMapping) -> EntryMatcher {
    EntryMatcher(definition, wholeRecordDigester(mapping), entity: entity, uniquenesses: uniquenesses)
  }

  /// What is compared of the records of an input, and of the store's entries.
  func digester(_ mapping: HeaderMapping) -> RowDigester {
    if comparesWholeRecords { return wholeRecordDigester(mapping) }
    let slots = definition.duplicates.updates ? updatedSlots(mapping) : []
    var digester = RowDigester()
    digester.keySlots = definition.key.compactMap { entity.slot(named: $0) }
    digester.uniqueSlots = uniquenesses.map(\.slots)
    digester.valueSlots = slots
    if areShared {
      digester.sharedLinks = links.indices.filter { isFilled(links[$0], mapping) }
    } else {
      digester.comparesLinks = links.contains(where: updates)
    }
    digester.keepsKeyValues = areShared
    if case .keepNewest(let by) = definition.duplicates { digester.orderSlot = entity.slot(named: by) }
    return digester
  }

  /// For the comparison of whole records: all attributes that the input fills.
  func wholeRecordDigester(_ mapping: HeaderMapping) -> RowDigester {
    var digester = RowDigester()
    digester.keySlots = filledAttributes(mapping).compactMap { entity.slot(named: $0) }.sorted()
    digester.isWholeRecord = true
    digester.linksOfWhole = links.indices.filter { !links[$0].isLate && isFilled(links[$0], mapping) }
    digester.uniqueSlots = uniquenesses.map(\.slots)
    return digester
  }

  /// The attributes of all columns.
  var columnSlots: [Int] { columns.parsers.compactMap { entity.slot(named: $0.definition.attribute) }.sorted() }

  /// Attributes of columns that the input has or the pipeline fills.
  private func filledAttributes(_ mapping: HeaderMapping) -> [String] {
    columns.parsers.filter { isFilled($0, mapping) }.map(\.definition.attribute)
  }

  /// Whether the input has the column, or the pipeline fills it.
  private func isFilled(_ parser: FieldParser, _ mapping: HeaderMapping) -> Bool {
    mapping.fieldOfColumn[parser.column] != nil || parser.textWhenAbsent != nil
  }

  private func isFilled(_ link: EntityLink, _ mapping: HeaderMapping) -> Bool {
    columns.parsers.contains { link.columns.contains($0.column) && isFilled($0, mapping) }
  }

  /// Attributes that an update may change: those of columns that the input has or the pipeline fills, except the key's.
  private func updatedSlots(_ mapping: HeaderMapping) -> [Int] {
    var names = filledAttributes(mapping)
    if case .update(let columns?) = definition.duplicates { names = names.filter(columns.contains) }
    return names.filter { !definition.key.contains($0) }.compactMap { entity.slot(named: $0) }.sorted()
  }

  /// Whether an update changes a relationship.
  func updates(_ link: EntityLink) -> Bool {
    switch definition.duplicates {
    case .reject, .skip: false
    case .keepNewest, .update(nil): true
    case .update(let names?): link.columns.contains { names.contains(definition.columns[$0].attribute) }
    }
  }

  /// Without these columns a key would be all null, and all records would be new.
  func missingKeys(_ mapping: HeaderMapping, input: String) -> [RecordIssue] {
    var required = definition.key
    if case .keepNewest(let by) = definition.duplicates { required.append(by) }
    return columns.parsers.compactMap { parser in
      let isFound = mapping.fieldOfColumn[parser.column] != nil && !mapping.unseenColumns.contains(parser.column)
      let isThere = isFound || parser.valueWhenAbsent != .null
      guard required.contains(parser.definition.attribute), !isThere else { return nil }
      let known = mapping.issues.contains {
        $0.code == .missingLabel && $0.severity == .error && $0.column == parser.definition.name
      }
      guard !known else { return nil }
      return RecordIssue(
        .missingLabel, at: RecordPosition(input: input, record: 0, line: 1, byte: 0), column: parser.definition.name,
        message: "the header has no '\(parser.definition.name)', and the pipeline's key needs it; add the column, or "
          + "declare its label as a synonym")
    } + links.flatMap { missingNames(of: $0, mapping, input: input) }
  }

  /// An input that has only some columns of a related object must have those that say which one it is.
  private func missingNames(of link: EntityLink, _ mapping: HeaderMapping, input: String) -> [RecordIssue] {
    func isThere(_ parser: FieldParser) -> Bool { isFilled(parser, mapping) }
    let parsers = columns.parsers.filter { link.columns.contains($0.column) }
    guard parsers.contains(where: isThere) else { return [] }
    return parsers.compactMap { parser in
      guard !isThere(parser), let name = parser.definition.relatedAttribute?.name, link.by.contains(name) else {
        return nil
      }
      return RecordIssue(
        .missingLabel, at: RecordPosition(input: input, record: 0, line: 1, byte: 0), column: parser.definition.name,
        message: "the header has no '\(parser.definition.name)', which says where a record leads to; "
          + "add the column, or declare its label as a synonym")
    }
  }

  // MARK: Uniqueness

  /// Columns with the rule `unique`, and the model's own constraints. Constraints are also checked here, so that a dry
  /// run finds what the store would refuse.
  private var uniquenesses: [EntryMatcher.Uniqueness] { columnUniquenesses + modelUniquenesses }

  private var columnUniquenesses: [EntryMatcher.Uniqueness] {
    definition.columns.compactMap { column in
      guard let rule = column.rules.first(where: { $0.kind == .unique }),
        let slot = entity.slot(named: column.attribute)
      else { return nil }
      return EntryMatcher.Uniqueness(
        slots: [slot], code: .uniqueError, column: column.name, names: column.name, severity: rule.severity)
    }
  }

  private var modelUniquenesses: [EntryMatcher.Uniqueness] {
    entity.uniquenessConstraintNames.compactMap { names in
      let slots = names.compactMap { entity.slot(named: $0) }
      guard slots.count == names.count else { return nil }
      return EntryMatcher.Uniqueness(
        slots: slots, code: .storeConstraint, column: nil, names: names.joined(separator: ", "), severity: .error)
    }
  }
}
