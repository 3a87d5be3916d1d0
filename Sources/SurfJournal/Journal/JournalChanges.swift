import Foundation
import OpenCoreData
import PipelineEngine

/// New values for some attributes of an entry, parsed from texts as by the pipeline surf-log.
public struct JournalChanges: Sendable, Hashable {
  /// By attribute; `.none` removes the value.
  public private(set) var values: [String: JournalValue] = [:]

  public init() {}

  public var isEmpty: Bool { values.isEmpty }

  /// Sets an attribute to the value of a text: a date in ISO 8601 or in the journal app's format, a whole number, or
  /// the text itself. An empty text removes the value, except that of the date: `clear(_:)` removes that too.
  ///
  /// - Parameters:
  ///   - attribute: One of `JournalRecord.attributes`.
  ///   - text: The text as in a column of a surf log.
  ///   - now: The clock of the rule that a session must not be in the future.
  /// - Throws: `JournalError.Code.badAttribute`, or `.badValue` for a text that an import would reject.
  public mutating func set(_ attribute: String, to text: String, now: Date = Date()) throws(JournalError) {
    try Self.check(attribute)
    guard var parser = try Self.columns(now).parsers.first(where: { $0.definition.attribute == attribute }) else {
      throw Self.unknown(attribute)
    }
    let bytes = Array(text.utf8)
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
    case .integer(let number)?: values[attribute] = .number(number)
    case .real(let seconds)?: values[attribute] = .date(Date(timeIntervalSinceReferenceDate: seconds))
    case .text?: values[attribute] = .text(text)
    // No attribute of the journal has a type whose values differ from their text.
    case .encoded?, nil:
      let position = RecordPosition(input: "", record: 0, line: 0, byte: 0)
      let what = faults.last.map { parser.issue(for: $0, bytes: bytes.span, at: position, field: nil).message }
      throw JournalError(
        .badValue, exitCode: .dataError,
        "\(attribute) '\(RawText.shortened(bytes))' \(what ?? "can't be read; correct it")")
    }
  }

  /// Removes the value of an attribute.
  public mutating func clear(_ attribute: String) throws(JournalError) {
    try Self.check(attribute)
    values[attribute] = JournalValue.none
  }

  /// Sets the values that differ from the object's. Call it on the queue of the object's context.
  func apply(to object: NSManagedObject) {
    for (attribute, value) in values where JournalValue(object.value(forKey: attribute)) != value {
      object.setValue(value.foundationValue, forKey: attribute)
    }
  }

  // MARK: Columns

  private static func check(_ attribute: String) throws(JournalError) {
    guard JournalRecord.attributes.contains(attribute) else { throw unknown(attribute) }
  }

  private static func unknown(_ attribute: String) -> JournalError {
    let names = JournalRecord.attributes
    let hint = NearestName.hint(for: attribute, in: names)
    return JournalError(
      .badAttribute, exitCode: .usage, "an entry has no '\(attribute)'; it has \(names.joined(separator: ", "))\(hint)")
  }

  private static func columns(_ now: Date) throws(JournalError) -> ColumnSet {
    let model = NSManagedObjectModel.embedded(named: CoreDataStack.modelName)
    let types = model?.entitiesByName[Journal.entityName]?.columnTypes ?? [:]
    do {
      return try ColumnSet(.surfLog, types: types, now: now)
    } catch {
      // The pipeline and the model are both parts of this module, and tests check that they agree.
      throw JournalError(.badAttribute, exitCode: .software, error.description)
    }
  }
}
