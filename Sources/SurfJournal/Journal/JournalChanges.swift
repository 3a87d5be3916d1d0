import Foundation
import OpenCoreData
import PipelineEngine

/// New values for some attributes of an entry, read from texts as the pipeline surf-log reads its columns.
public struct JournalChanges: Sendable, Hashable {
  /// By attribute; `.none` where the value is taken away.
  public private(set) var values: [String: JournalValue] = [:]

  public init() {}

  public var isEmpty: Bool { values.isEmpty }

  /// Sets an attribute to what `text` says: a date in ISO 8601 or as the journal app writes it, a whole number, or the
  /// text itself. An empty one is no value, and no date: `clear(_:)` takes that away.
  ///
  /// - Parameters:
  ///   - attribute: One of `JournalRecord.attributes`.
  ///   - text: What a log would have in that column.
  ///   - now: The clock of the rule that no session lies in the future.
  /// - Throws: `JournalError.Code.badAttribute`, or `.badValue` for what an import would reject.
  public mutating func set(_ attribute: String, to text: String, now: Date = Date()) throws(JournalError) {
    try Self.check(attribute)
    guard let parser = try Self.columns(now).parsers.first(where: { $0.definition.attribute == attribute }) else {
      throw Self.unknown(attribute)
    }
    let bytes = Array(text.utf8)
    var faults: [FieldFault] = []
    switch parser.parse(bytes.span, faults: &faults) {
    case .null?: values[attribute] = JournalValue.none
    case .integer(let number)?: values[attribute] = .number(number)
    case .real(let seconds)?: values[attribute] = .date(Date(timeIntervalSinceReferenceDate: seconds))
    case .text?: values[attribute] = .text(text)
    // No attribute of the journal is of a type that has other bytes than its text.
    case .encoded?, nil:
      let position = RecordPosition(input: "", record: 0, line: 0, byte: 0)
      let what = faults.last.map { parser.issue(for: $0, bytes: bytes.span, at: position, field: nil).message }
      throw JournalError(
        .badValue, exitCode: .dataError,
        "\(attribute) '\(RawText.shortened(bytes))' \(what ?? "can't be read; correct it")")
    }
  }

  /// Takes the value of an attribute away.
  public mutating func clear(_ attribute: String) throws(JournalError) {
    try Self.check(attribute)
    values[attribute] = JournalValue.none
  }

  /// Sets the values that differ from the object's own, on its context's queue.
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
      // The pipeline and the model are both parts of this module, and tests hold them together.
      throw JournalError(.badAttribute, exitCode: .software, error.description)
    }
  }
}
