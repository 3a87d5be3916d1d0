import Foundation
import Synchronization

/// Says from any thread that something has occurred.
private final class Flag: Sendable {
  private let value = Atomic<Bool>(false)

  var isSet: Bool { value.load(ordering: .relaxed) }
  func set() { value.store(true, ordering: .relaxed) }
}

/// Parses the fields of one column into values, according to the column's definition and its attribute's type.
///
/// The bytes are a field's content: unquoted, valid UTF-8. Spaces around dates, numbers and Booleans are ignored;
/// texts are kept unchanged. A class, so that passing it copies a reference instead of all its tables.
package final class FieldParser: Sendable {
  package let definition: ColumnDefinition
  package let type: ColumnType
  /// Index in the ``ColumnSet``.
  package let column: Int

  let formats: [DateFormat]
  package let binaryFormat: BinaryFormat
  package let notation: FieldNotation
  private let quickChecks: [QuickCheck]
  let textChecks: [TextCheck]
  private let required: (rule: Int, severity: Severity)?
  private let transformer: FieldTransformer?
  /// Whether an empty field is an empty text, because the dialect has a separate text for nil.
  private let keepsEmptyText: Bool
  /// Set once a time without a zone was read.
  private let localTimes: Flag
  /// The fast path for the ordinary fields of whole chunks.
  package let kernel: FieldKernel
  package var isRequired: Bool { required != nil }

  /// Compiles a column.
  ///
  /// - Parameters:
  ///   - definition: the column.
  ///   - type: the type of its attribute.
  ///   - column: its index in the ``ColumnSet``.
  ///   - now: the clock of `notInFuture`, in seconds since 2001-01-01 UTC.
  ///   - path: the key path of the column, with which the paths of mistakes begin.
  ///   - dateFormats: the patterns of named date formats.
  ///   - keepsEmptyText: whether an empty field is a value other than nil.
  /// - Throws: `PipelineError` if rules, formats, transforms or a constant do not apply to the type.
  package convenience init(
    _ definition: ColumnDefinition, type: ColumnType, column: Int = 0, now: Double, path: String = "column",
    dateFormats: [String: String] = [:], keepsEmptyText: Bool = false
  ) throws(PipelineError) {
    try self.init(
      definition, type: type, column: column, now: now, path: path, dateFormats: dateFormats,
      keepsEmptyText: keepsEmptyText, notation: FieldNotation())
  }

  /// Compiles a column whose values are written in a notation of the pipeline.
  package init(
    _ definition: ColumnDefinition, type: ColumnType, column: Int, now: Double, path: String,
    dateFormats: [String: String], keepsEmptyText: Bool, notation: FieldNotation
  ) throws(PipelineError) {
    self.notation = notation
    localTimes = Flag()
    self.keepsEmptyText = keepsEmptyText
    self.definition = definition
    self.type = type
    self.column = column
    var compiler = RuleCompiler(type: type, now: now)
    compiler.numbers = notation.numbers
    formats = compiler.formats(definition, named: dateFormats, path: path)
    binaryFormat = compiler.binaryFormat(definition, path: path)
    for (index, rule) in definition.rules.enumerated() {
      compiler.add(rule, index: index, path: "\(path).rules[\(index)]")
    }
    transformer = compiler.transformer(definition, path: path, bytesMax: notation.bytesMax)
    quickChecks = compiler.quickChecks
    textChecks = compiler.textChecks
    required = compiler.required
    kernel = FieldKernel(
      type, compiler.quickChecks, hasTextChecks: !compiler.textChecks.isEmpty, isRequired: compiler.required != nil,
      keepsEmptyText: keepsEmptyText, firstFormat: formats.first, notation: notation)
    if !compiler.mistakes.isEmpty { throw PipelineError(mistakes: compiler.mistakes) }
    try checkAbsent(path)
  }

  /// The same column for JSON Lines: an empty field is a value, and 3.0 is the whole number that it is in JSON.
  package var forJSONLines: FieldParser {
    var notation = notation
    notation.hasJSONNumbers = true
    return FieldParser(self, formats: formats, keepsEmptyText: true, kernel: .any, notation: notation)
  }

  /// The same column for a store that does not keep NUL characters.
  ///
  /// - Parameter areRead: Whether NUL bytes of an input are read as characters.
  /// - Throws: `PipelineError` for a constant or default that has one.
  package func refusingNul(areRead: Bool, path: String) throws(PipelineError) -> FieldParser {
    var notation = notation
    notation.refusesNul = true
    let parser = FieldParser(self, formats: formats, kernel: areRead ? .any : kernel, notation: notation)
    try parser.checkAbsent(path)
    return parser
  }

  private init(
    _ other: FieldParser, formats: [DateFormat], keepsEmptyText: Bool? = nil, kernel: FieldKernel? = nil,
    notation: FieldNotation? = nil
  ) {
    (definition, type, column, self.notation) = (
      other.definition, other.type, other.column, notation ?? other.notation
    )
    (quickChecks, textChecks, required) = (other.quickChecks, other.textChecks, other.required)
    (transformer, self.keepsEmptyText) = (other.transformer, keepsEmptyText ?? other.keepsEmptyText)
    (binaryFormat, self.kernel, localTimes) = (other.binaryFormat, kernel ?? other.kernel, other.localTimes)
    self.formats = formats
  }

  /// The parser without some of its date formats, which are not the first.
  package func excluding(_ excluded: [DateFormat]) -> FieldParser {
    FieldParser(self, formats: formats.filter { !excluded.contains($0) })
  }

  /// The parser without its date formats that have these texts.
  package func excluding(texts: Set<String>) -> FieldParser {
    FieldParser(self, formats: formats.filter { !texts.contains($0.text) })
  }

  /// Counts the column's dates; nil if its formats leave no doubt.
  package var dateSurvey: DateSurvey? { type == .date ? DateSurvey(formats) : nil }

  /// Whether a time without a zone was read; it is that of the pipeline's time zone.
  package var hasReadLocalTime: Bool { localTimes.isSet }

  /// Parses a field. It allocates nothing if there are no faults, unless a rule is `pattern`.
  ///
  /// - Parameters:
  ///   - bytes: the field's content.
  ///   - faults: receives the faults, warnings included; at most one is an error, the first.
  /// - Returns: the value, or nil if there is an error.
  package func parse(_ bytes: Span<UInt8>, faults: inout [FieldFault]) -> FieldValue? {
    if case .text = type { return parseText(bytes, &faults) }
    let trimmed = bytes.extracting(bytes.trimmedRange)
    if trimmed.isEmpty { return empty(isEmptyData(bytes) ? .encoded : .null, &faults) }
    switch type {
    case .text:
      return .text
    case .date:
      guard let value = seconds(trimmed) else { return mistyped(&faults) }
      return check(value, text: trimmed, faults: &faults) ? .real(value) : nil
    case .integer(let range):
      guard let value = notation.integer(trimmed), range.contains(value) else {
        return mistyped(&faults)
      }
      return check(Double(value), text: trimmed, faults: &faults) ? .integer(value) : nil
    case .real:
      guard let value = notation.numbers.withPlain(trimmed, NumberText.real) else { return mistyped(&faults) }
      return check(value, text: trimmed, faults: &faults) ? .real(value) : nil
    case .boolean:
      guard let value = notation.boolean(trimmed) else { return mistyped(&faults) }
      return check(value ? 1 : 0, text: trimmed, faults: &faults) ? .integer(value ? 1 : 0) : nil
    case .single:
      guard let value = notation.numbers.withPlain(trimmed, NumberText.single) else { return mistyped(&faults) }
      return check(Double(value), text: trimmed, faults: &faults) ? .real(Double(value)) : nil
    case .decimal:
      guard let value = notation.numbers.withPlain(trimmed, Self.keptDecimal) else {
        return mistyped(&faults)
      }
      return check(value, text: trimmed, faults: &faults) ? .encoded : nil
    case .uuid, .uri, .binary, .archive:
      guard isEncoding(trimmed) else { return mistyped(&faults) }
      return parseEncoded(trimmed, &faults)
    }
  }

  /// The value of a field that contains the dialect's text for nil.
  package func parseNull(faults: inout [FieldFault]) -> FieldValue? { empty(.null, &faults) }

  // MARK: Transforms and constants

  /// Whether fields must be parsed with ``parse(transforming:spare:faults:)``.
  package var isTransformed: Bool { transformer != nil }

  /// Whether nil, where the dialect has a text for it, is replaced like an empty field.
  package var fillsEmpty: Bool { transformer?.fillsEmpty ?? false }

  /// Transforms and parses a field: `text` is transformed in place. `spare` is a scratch buffer.
  package func parse(transforming text: inout [UInt8], spare: inout [UInt8], faults: inout [FieldFault]) -> FieldValue?
  {
    if let refusal = transformer?.apply(to: &text, spare: &spare) {
      faults.append(FieldFault(column: column, refusal))
      return nil
    }
    return parse(text.span, faults: &faults)
  }

  /// The column's text after its transforms, as its rules see it.
  package func transformed(_ bytes: Span<UInt8>) -> [UInt8] {
    var (text, spare) = (bytes.array, [UInt8]())
    _ = transformer?.apply(to: &text, spare: &spare)
    return text
  }

  /// The value of this column in records of an input that lacks the column: nil, unless the definition has a constant
  /// or a default.
  package var valueWhenAbsent: FieldValue {
    var faults: [FieldFault] = []
    return textWhenAbsent.flatMap { parse($0.span, faults: &faults) } ?? .null
  }

  package var textWhenAbsent: [UInt8]? {
    if let value = definition.value { return Array(value.utf8) }
    return fillsEmpty ? transformed([UInt8]().span) : nil
  }

  private func checkAbsent(_ path: String) throws(PipelineError) {
    guard let text = textWhenAbsent else { return }
    var faults: [FieldFault] = []
    if definition.value == nil {
      var (made, spare): ([UInt8], [UInt8]) = ([], [])
      guard parse(transforming: &made, spare: &spare, faults: &faults) == nil else { return }
    } else {
      guard parse(text.span, faults: &faults) == nil else { return }
    }
    guard let fault = faults.last else { return }
    let key = definition.value == nil ? "transforms" : "value"
    let shown = RawText.shortened(text)
    throw PipelineError(path: "\(path).\(key)", "'\(shown)' \(message(for: fault, text.span))")
  }

  private func parseText(_ bytes: Span<UInt8>, _ faults: inout [FieldFault]) -> FieldValue? {
    if bytes.isEmpty, !keepsEmptyText { return empty(.null, &faults) }
    if required != nil, bytes.trimmedRange.isEmpty { return empty(.text, &faults) }
    if notation.refusesNul, bytes.indices.contains(where: { bytes[$0] == 0 }) { return mistyped(&faults) }
    for check in quickChecks where !check.passes(bytes) {
      if refuse(rule: check.rule, severity: check.severity, faults: &faults) { return nil }
    }
    return checkText(bytes, &faults) ? .text : nil
  }

  private func parseEncoded(_ bytes: Span<UInt8>, _ faults: inout [FieldFault]) -> FieldValue? {
    for check in quickChecks where !check.passes(bytes) {
      if refuse(rule: check.rule, severity: check.severity, faults: &faults) { return nil }
    }
    return checkText(bytes, &faults) ? .encoded : nil
  }

  /// Whether an empty field is data of no bytes, because the dialect has a separate text for nil.
  private func isEmptyData(_ bytes: Span<UInt8>) -> Bool { keepsEmptyText && type.isBinary && required == nil }

  @inline(__always)
  private func seconds(_ bytes: Span<UInt8>) -> Double? {
    for format in formats {
      if let value = seconds(bytes, in: format) { return value }
    }
    return nil
  }

  private func seconds(_ bytes: Span<UInt8>, in format: DateFormat) -> Double? {
    if notation.zone == nil, format == .iso8601, let value = ISODateReader.wholeSecondsUTC(bytes) { return value }
    guard format.hasFields else { return format.seconds(bytes) }
    guard var fields = format.fields(bytes) else { return nil }
    if !fields.hasZone {
      if fields.hasTime, !hasReadLocalTime { localTimes.set() }
      if let zone = notation.zone, fields.wideYear.isEmpty {
        fields.offset = zone.offset(atLocal: fields.wholeSeconds)
      }
    }
    return fields.seconds(in: bytes)
  }

  /// The number, if it is a decimal that stores preserve.
  private static func keptDecimal(_ bytes: Span<UInt8>) -> Double? {
    guard let value = NumberText.real(bytes), DecimalText(bytes)?.isKeptByStores == true else { return nil }
    return value
  }

  private func check(_ value: Double, text bytes: Span<UInt8>, faults: inout [FieldFault]) -> Bool {
    for check in quickChecks where !check.passes(value) {
      if refuse(rule: check.rule, severity: check.severity, faults: &faults) { return false }
    }
    return checkText(bytes, &faults)
  }

  @inline(__always)
  private func checkText(_ bytes: Span<UInt8>, _ faults: inout [FieldFault]) -> Bool {
    if textChecks.isEmpty { return true }
    for check in textChecks where !check.passes(bytes) {
      if refuse(rule: check.rule, severity: check.severity, faults: &faults) { return false }
    }
    return true
  }

  private func empty(_ value: FieldValue, _ faults: inout [FieldFault]) -> FieldValue? {
    guard let required else { return value }
    return refuse(rule: required.rule, severity: required.severity, faults: &faults) ? nil : value
  }

  private func mistyped(_ faults: inout [FieldFault]) -> FieldValue? {
    _ = refuse(rule: -1, severity: .error, faults: &faults)
    return nil
  }

  /// Records the fault; true if it is an error.
  private func refuse(rule: Int, severity: Severity, faults: inout [FieldFault]) -> Bool {
    faults.append(FieldFault(column: column, rule: rule, severity: severity))
    return severity == .error
  }
}
