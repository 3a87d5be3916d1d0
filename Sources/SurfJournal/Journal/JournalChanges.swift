import Foundation
import ManagedObjectModel
import OpenCoreData
import PersistentStores
import PipelineEngine

/// New values for some attributes of an entry, parsed from texts as by the pipeline surf-log; or for attributes and
/// relationships of an object of another entity.
public struct JournalChanges: Sendable, Hashable {
  /// By attribute; `.none` removes the value.
  public private(set) var values: [String: JournalValue] = [:]
  /// By relationship: the IDs of the objects to lead to, as written.
  private(set) var links: [String: [String]] = [:]
  private let kind: ObjectKind

  /// Changes of an entry: none yet.
  public init() { self.init(.entry) }

  package init(_ kind: ObjectKind) { self.kind = kind }

  /// Whether there is nothing to change.
  public var isEmpty: Bool { values.isEmpty && links.isEmpty }

  public static func == (left: JournalChanges, right: JournalChanges) -> Bool {
    left.kind.entity == right.kind.entity && left.values == right.values && left.links == right.links
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(values)
    hasher.combine(links)
  }

  /// Sets an attribute to the value of a text: a date in ISO 8601 or in the journal app's format, a whole number, or
  /// the text itself. An empty text removes the value, except that of the date: `clear(_:)` removes that too.
  ///
  /// A relationship of another entity is set to the objects whose IDs the text lists, with commas between.
  ///
  /// - Parameters:
  ///   - attribute: One of `JournalRecord.attributes`.
  ///   - text: The text as in a column of a surf log.
  ///   - now: The clock of the rule that a session must not be in the future.
  /// - Throws: `JournalError.Code.badAttribute`, or `.badValue` for a text that an import would reject.
  public mutating func set(_ attribute: String, to text: String, now: Date = Date()) throws(JournalError) {
    if let relationship = try property(attribute) as? NSRelationshipDescription {
      try setLinks(relationship, to: text)
      return
    }
    guard var parser = try columns(now).parsers.first(where: { $0.definition.attribute == attribute }) else {
      throw JournalError(
        .badAttribute, exitCode: .usage,
        "\(kind.entity).\(attribute) is computed by the store, or has a type without a text; it can't be set here")
    }
    let bytes = Array((parser.type == .date ? Self.date(text, now: now) : text).utf8)
    if var survey = parser.dateSurvey {
      survey.add(bytes.span, line: 1)
      let verdict = survey.verdict(column: attribute)
      if verdict.refusal != nil {
        throw JournalError(
          .badValue, exitCode: .dataError,
          "\(attribute) '\(RawText.shortened(bytes))' can be a day in either of two months; write it like 2014-07-04")
      }
      parser = parser.excluding(verdict.excluded)
    }
    var faults: [FieldFault] = []
    switch parser.parse(bytes.span, faults: &faults) {
    case .null?: values[attribute] = JournalValue.none
    case .integer(let number)?: values[attribute] = JournalValue(.integer(number), parser.type)
    case .real(let number)?: values[attribute] = JournalValue(.real(number), parser.type)
    case .text?: values[attribute] = .text(text)
    case .encoded?: values[attribute] = try encoded(bytes, attribute, with: parser)
    case nil:
      let position = RecordPosition(input: "", record: 0, line: 0, byte: 0)
      let what = faults.last.map { parser.issue(for: $0, bytes: bytes.span, at: position, field: nil).message }
      throw JournalError(
        .badValue, exitCode: .dataError,
        "\(attribute) '\(RawText.shortened(bytes))' \(what.map(Self.withoutFile) ?? "can't be read; correct it")")
    }
  }

  /// `today`, `yesterday`, or a day written with dots, as a date that every column reads.
  private static func date(_ text: String, now: Date) -> String {
    let words = ["today": 0, "yesterday": -1]
    if let days = words[text.lowercased()] {
      let calendar = Calendar(identifier: .gregorian)
      let day = calendar.date(byAdding: .day, value: days, to: now) ?? now
      let parts = calendar.dateComponents([.year, .month, .day], from: day)
      let numbers = [parts.year ?? 0, parts.month ?? 0, parts.day ?? 0]
      return zip(numbers, [4, 2, 2]).map { String(repeating: "0", count: max(0, $1 - "\($0)".count)) + "\($0)" }
        .joined(separator: "-")
    }
    let seconds = LikelyDateFormat.secondsWithDots(Array(text.utf8).span)
    return seconds.flatMap { DateFormat.iso8601.string($0) } ?? text
  }

  /// The message about a field of a file, for a value that was typed.
  private static func withoutFile(_ message: String) -> String {
    if message.hasPrefix("is not a date") {
      return "is not a date; write it like 2014-07-14 or 2014-07-14T07:30:00Z, or today or yesterday"
    }
    let ending = ", or leave the field empty"
    return message.hasSuffix(ending) ? String(message.dropLast(ending.count)) : message
  }

  /// A value that differs from its text.
  private func encoded(
    _ bytes: [UInt8], _ attribute: String, with parser: FieldParser
  ) throws(JournalError) -> JournalValue {
    // A batch of an abstract entity can't be made. Its attributes are those of each subentity too.
    guard let entity = kind.model.flatMap(kind.description(in:))?.withDescendants.first(where: { !$0.isAbstract }),
      let slot = entity.slot(named: attribute)
    else { throw unknown(attribute) }
    var batch = ObjectBatch(entity: entity, rowCapacity: 1)
    batch.appendRow()
    parser.store(bytes.span, at: slot, in: &batch)
    return JournalValue(batch.value(row: 0, slot: slot), parser.type)
  }

  private mutating func setLinks(_ relationship: NSRelationshipDescription, to text: String) throws(JournalError) {
    let ids = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    if !relationship.isToMany, ids.count > 1 {
      throw JournalError(
        .badValue, exitCode: .usage,
        "\(kind.entity).\(relationship.name) leads to one object, and '\(RawText.oneLine(text))' names \(ids.count)")
    }
    links[relationship.name] = ids
  }

  /// Removes the value of an attribute, or all objects of a relationship.
  ///
  /// - Parameter attribute: One of `JournalRecord.attributes`.
  /// - Throws: `JournalError.Code.badAttribute`.
  public mutating func clear(_ attribute: String) throws(JournalError) {
    if try property(attribute) is NSRelationshipDescription {
      links[attribute] = []
    } else {
      values[attribute] = JournalValue.none
    }
  }

  /// Sets the values that differ from the object's, and the relationships to the objects with the IDs in `targets`. Call
  /// it on the queue of the object's context.
  func apply(to object: NSManagedObject, targets: [String: [NSManagedObjectID]] = [:]) {
    var batch = ObjectBatch(entity: object.entity, rowCapacity: 1)
    batch.appendRow()
    var slots: [Int] = []
    for (attribute, value) in values {
      guard let slot = object.entity.slot(named: attribute) else { continue }
      batch.setValue(value.stored, row: 0, slot: slot)
      slots.append(slot)
    }
    object.setValues(at: slots.sorted(), of: batch, row: 0)
    guard let context = object.managedObjectContext else { return }
    for (name, ids) in targets.sorted(by: { $0.key < $1.key }) {
      guard let relationship = object.entity.relationshipsByName[name] else { continue }
      let objects = ids.map(context.object(with:))
      switch (relationship.isToMany, relationship.isOrdered) {
      case (false, _): object.setValue(objects.first, forKey: name)
      case (true, true): object.setValue(NSOrderedSet(array: objects), forKey: name)
      case (true, false): object.setValue(NSSet(array: objects), forKey: name)
      }
    }
  }

  // MARK: Columns

  private func property(_ name: String) throws(JournalError) -> NSPropertyDescription {
    let found = kind.model.flatMap(kind.description(in:))?.propertiesByName[name]
    let isKnown = kind.attributes.contains(name) || !kind.isEntry && found is NSRelationshipDescription
    guard isKnown, let found else { throw unknown(name) }
    return found
  }

  private func unknown(_ attribute: String) -> JournalError {
    let entity = kind.isEntry ? nil : kind.model.flatMap(kind.description(in:))
    let names = kind.attributes + (entity?.relationshipsByName.keys.sorted() ?? [])
    let hint = NearestName.hint(for: attribute, in: names)
    let noun = kind.isEntry ? "an entry" : kind.entity
    return JournalError(
      .badAttribute, exitCode: .usage,
      "\(noun) has no '\(attribute)'; it has \(names.joined(separator: ", "))\(hint)")
  }

  private func columns(_ now: Date) throws(JournalError) -> ColumnSet {
    let types = kind.model.flatMap(kind.description(in:))?.columnTypes ?? [:]
    do {
      return try ColumnSet(kind.definition, types: types, now: now)
    } catch {
      // The columns are those of the model, and tests check those of the pipeline.
      throw JournalError(.badAttribute, exitCode: .software, error.description)
    }
  }
}
