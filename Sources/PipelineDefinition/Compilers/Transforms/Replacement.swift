import Foundation
import SystemSupport

/// A ``ValueTransform`` `replace` compiled for bytes. What it makes is limited while it is made: a template may repeat what
/// was matched any number of times.
struct Replacement: Sendable {
  private enum Part: Sendable {
    case literal([UInt16])
    /// What a group of the expression has matched; 0 is the whole match.
    case group(Int)
  }

  private let expression: NSRegularExpression
  private let template: [Part]

  /// - Parameter template: As `NSRegularExpression` reads it: `$1` stands for a group, a backslash takes the sign after it as
  ///   it is.
  init(_ expression: NSRegularExpression, with template: String) {
    self.expression = expression
    self.template = Self.parts(Array(template.utf16), groups: expression.numberOfCaptureGroups)
  }

  /// Replaces every match in `text`; a text that is refused stays as it is.
  func apply(to text: inout [UInt8], bytesMax: Int) -> FieldTransformer.Outcome {
    let whole = String(decoding: text, as: UTF8.self)
    let units = Array(whole.utf16)
    var result: [UInt16] = []
    var (end, hasMatch, isTooLong) = (0, false, false)
    let isDecided = expression.eachBoundedMatch(in: whole) { match in
      hasMatch = true
      let before = units[end..<max(end, match.range.location)]
      // No text has fewer bytes in UTF-8 than units in UTF-16.
      isTooLong = !Self.append(before, to: &result, unitsMax: bytesMax)
      for part in template where !isTooLong {
        isTooLong = !Self.append(Self.units(of: part, match, units), to: &result, unitsMax: bytesMax)
      }
      end = match.range.location + match.range.length
      return !isTooLong
    }
    if isTooLong { return .tooLong }
    guard isDecided else { return .refused }
    if !hasMatch { return .done }
    guard Self.append(units[end...], to: &result, unitsMax: bytesMax) else { return .tooLong }
    let changed = Array(String(decoding: result, as: UTF16.self).utf8)
    guard changed.count <= bytesMax else { return .tooLong }
    text = changed
    return .done
  }

  private static func append(_ added: ArraySlice<UInt16>, to result: inout [UInt16], unitsMax: Int) -> Bool {
    guard result.count + added.count <= unitsMax else { return false }
    result += added
    return true
  }

  private static func units(of part: Part, _ match: NSTextCheckingResult, _ units: [UInt16]) -> ArraySlice<UInt16> {
    switch part {
    case .literal(let literal): return literal[...]
    case .group(let number):
      guard number < match.numberOfRanges else { return [] }
      let range = match.range(at: number)
      // A group that has no part in the match.
      guard range.location != NSNotFound else { return [] }
      return units[range.location..<(range.location + range.length)]
    }
  }

  /// - Parameter groups: The number of groups, which decides how many digits a reference to one has.
  private static func parts(_ template: [UInt16], groups: Int) -> [Part] {
    let (backslash, dollar, zero) = (UInt16(0x5C), UInt16(0x24), UInt16(0x30))
    let digitsMax = String(max(groups, 1)).count
    var parts: [Part] = []
    var literal: [UInt16] = []
    var index = 0
    while index < template.count {
      let unit = template[index]
      index += 1
      if unit == backslash {
        if index < template.count { literal.append(template[index]) }
        index += 1
        continue
      }
      let digits = unit == dollar ? template[index...].prefix(digitsMax).prefix { (zero..<zero + 10).contains($0) } : []
      guard !digits.isEmpty else {
        literal.append(unit)
        continue
      }
      if !literal.isEmpty { parts.append(.literal(literal)) }
      literal = []
      parts.append(.group(digits.reduce(0) { $0 * 10 + Int($1 - zero) }))
      index += digits.count
    }
    return literal.isEmpty ? parts : parts + [.literal(literal)]
  }
}
