import Foundation

/// A column's transforms compiled for bytes. For ASCII only `replace` creates a String; the others work in place or
/// between two buffers.
struct FieldTransformer: Sendable {
  private enum Step: Sendable {
    case trim, collapse
    case letterCase(LetterCase)
    /// Keys are in lower case if case is ignored.
    case map([[UInt8]: [UInt8]], ignoreCase: Bool)
    case fallback([UInt8])
    case replace(Replacement)
    case convert(UnitConverter, strict: Bool)
  }

  /// What a transform does to a text.
  enum Outcome {
    case done, refused
    /// The result would have more bytes than a field may have.
    case tooLong
  }

  /// A text that a transform refuses.
  struct Refusal {
    /// The number of the transform.
    let step: Int
    let isTooLong: Bool
  }

  private let steps: [Step]
  private let bytesMax: Int
  /// Whether it supplies a text for records without one.
  let fillsEmpty: Bool

  /// Compiles transforms; `nil` if there are none.
  ///
  /// - Parameters:
  ///   - transforms: the transforms, in order.
  ///   - path: the key path of their list.
  ///   - decimal: what precedes the fraction of a number.
  ///   - bytesMax: how many bytes the result of a transform may have.
  /// - Throws: `PipelineError` for expressions that ICU rejects, units that cannot be converted into each other, and
  ///   keys of a map that differ only in an ignored letter case.
  init?(
    _ transforms: [ValueTransform], path: String, decimal: [UInt8] = NumberNotation.plain.decimal,
    bytesMax: Int
  ) throws(PipelineError) {
    if transforms.isEmpty { return nil }
    var mistakes: [PipelineError.Mistake] = []
    var steps: [Step] = []
    for (index, transform) in transforms.enumerated() {
      do {
        steps.append(try Self.step(transform, path: "\(path)[\(index)]", decimal))
      } catch {
        mistakes += error.mistakes
      }
    }
    if !mistakes.isEmpty { throw PipelineError(mistakes: mistakes) }
    self.steps = steps
    self.bytesMax = bytesMax
    fillsEmpty = transforms.contains(where: \.fillsEmpty)
  }

  /// Transforms `text`; `spare` is a scratch buffer. Returns nil unless a transform refused the text.
  func apply(to text: inout [UInt8], spare: inout [UInt8]) -> Refusal? {
    for index in steps.indices {
      switch apply(steps[index], to: &text, spare: &spare) {
      case .refused: return Refusal(step: index, isTooLong: false)
      case .done where text.count <= bytesMax: continue
      case .done, .tooLong: return Refusal(step: index, isTooLong: true)
      }
    }
    return nil
  }

  private func apply(_ step: Step, to text: inout [UInt8], spare: inout [UInt8]) -> Outcome {
    switch step {
    case .trim: text.trimWhiteSpace()
    case .collapse: text.collapseWhiteSpace()
    case .letterCase(let letterCase): letterCase.apply(to: &text)
    case .fallback(let value): if text.isEmpty { text += value }
    case .map(let values, let ignoreCase):
      if ignoreCase {
        spare.removeAll(keepingCapacity: true)
        spare += text
        LetterCase.lower.apply(to: &spare)
      }
      if let value = ignoreCase ? values[spare] : values[text] {
        text.removeAll(keepingCapacity: true)
        text += value
      }
    case .replace(let replacement): return replacement.apply(to: &text, bytesMax: bytesMax)
    case .convert(let converter, let strict):
      spare.removeAll(keepingCapacity: true)
      if converter.convert(text.span, to: &spare) {
        swap(&text, &spare)
      } else if strict {
        return text.span.trimmedRange.isEmpty ? .done : .refused
      }
    }
    return .done
  }

  // MARK: Making ready

  private static func step(
    _ transform: ValueTransform, path: String, _ decimal: [UInt8]
  ) throws(PipelineError) -> Step {
    switch transform {
    case .trim: return .trim
    case .collapse: return .collapse
    case .upper: return .letterCase(.upper)
    case .lower: return .letterCase(.lower)
    case .title: return .letterCase(.title)
    case .fallback(let value): return .fallback(Array(value.utf8))
    case .map(let values, let ignoreCase): return try map(values, ignoreCase: ignoreCase, path: path)
    case .replace(let pattern, let template):
      guard let expression = try? NSRegularExpression(pattern: pattern) else {
        throw PipelineError(
          path: "\(path).matches", "'\(pattern)' is not a valid ICU regular expression; check its brackets")
      }
      return .replace(Replacement(expression, with: template))
    case .convert(let conversion):
      guard conversion.from.isSpeed == conversion.to.isSpeed else {
        let (from, to) = (conversion.from.rawValue, conversion.to.rawValue)
        throw PipelineError(
          path: path,
          "'\(from)' and '\(to)' are a length and a speed, which can't be converted into each other; correct one")
      }
      guard UnitConversion.digitsRange.contains(conversion.digits) else {
        throw PipelineError(path: "\(path).digits", "expected 0 to 9, found \(conversion.digits)")
      }
      return .convert(UnitConverter(conversion, decimal: decimal), strict: conversion.strict)
    }
  }

  private static func map(
    _ values: [String: String], ignoreCase: Bool, path: String
  ) throws(PipelineError) -> Step {
    var table: [[UInt8]: [UInt8]] = [:]
    for (from, to) in values.sorted(by: { $0.key < $1.key }) {
      let key = Array((ignoreCase ? from.lowercased() : from).utf8)
      if let other = table[key], other != Array(to.utf8) {
        throw PipelineError(
          path: "\(path).values.\(from)", "differs from another key in letter case only; remove one of the two")
      }
      table[key] = Array(to.utf8)
    }
    return .map(table, ignoreCase: ignoreCase)
  }
}
