import Foundation
import SystemSupport

/// MATCHES: an ICU regular expression that matches the whole text. Compiled patterns are cached, since SQL evaluates
/// the same pattern on every row.
final class RegularExpressions: Sendable {
  static let shared = RegularExpressions()

  private struct Key: Hashable {
    let pattern: String
    let options: TextOptions
  }

  /// The cache is cleared when it reaches this many patterns.
  private static let countMax = 64

  private let compiled = Locked<[Key: NSRegularExpression]>([:])

  /// - Throws: the error of NSRegularExpression for an invalid pattern.
  func validate(_ pattern: String, _ options: TextOptions) throws {
    _ = try expression(pattern, options)
  }

  /// Whether the whole text matches; nil if the pattern needs too many steps. False for an invalid pattern: predicates
  /// validate theirs beforehand.
  func matches(_ text: Span<UInt8>, pattern: Span<UInt8>, _ options: TextOptions) -> Bool? {
    guard let expression = try? expression(String(pattern), options) else { return false }
    var subject = String(text)
    if options.contains(.diacriticInsensitive) {
      subject = TextFolding.fold(subject, .diacriticInsensitive)
    }
    let whole = NSRange(location: 0, length: subject.utf16.count)
    switch expression.boundedMatch(in: subject, options: .anchored) {
    case .match(let range): return range == whole
    case .noMatch: return false
    case .undecided: return nil
    }
  }

  private func expression(_ pattern: String, _ options: TextOptions) throws -> NSRegularExpression {
    let key = Key(pattern: pattern, options: options)
    if let known = compiled.withLock({ $0[key] }) { return known }
    let ignoresMarks = options.contains(.diacriticInsensitive)
    let source = ignoresMarks ? TextFolding.fold(pattern, .diacriticInsensitive) : pattern
    // Compiled alone first: inside the group below, a stray parenthesis could close the group and still be valid.
    // (Foundation accepts an empty pattern in the group, but not alone.)
    if !source.isEmpty { _ = try NSRegularExpression(pattern: source) }
    let flags: NSRegularExpression.Options = options.contains(.caseInsensitive) ? [.caseInsensitive] : []
    let expression = try wholeText(source, flags)
    compiled.withLock { known in
      if known.count >= Self.countMax { known.removeAll() }
      known[key] = expression
    }
    return expression
  }

  /// The end anchor is part of the pattern, so that `a|ab` tries its second branch. If that does not compile, the
  /// pattern ends with a comment, which only a line break terminates.
  private func wholeText(
    _ source: String, _ flags: NSRegularExpression.Options
  ) throws -> NSRegularExpression {
    if let expression = try? NSRegularExpression(pattern: "(?:\(source))\\z", options: flags) {
      return expression
    }
    return try NSRegularExpression(pattern: "(?:\(source)\n)\\z", options: flags)
  }
}
