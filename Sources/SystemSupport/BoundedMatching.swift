import Foundation

/// Matching in a bounded number of steps.
///
/// The time that ICU needs for a pattern such as `(a+)+$` grows exponentially with the text, and its memory for states is
/// limited. Either way a text may neither match nor fail to match: it is undecided, and callers say so.
package enum MatchOutcome: Equatable, Sendable {
  case match(NSRange)
  case noMatch
  /// The limit of steps or of ICU's memory was reached.
  case undecided
}

extension NSRegularExpression {
  /// The steps that every text may take; a long one may take 100 for each of its UTF-16 units.
  package static let stepsMax = 1_000_000
  private static let stepsPerUnitMax = 100
  /// ICU reports each time it took so many.
  private static let stepsPerReport = 10_000

  /// Looks for the first match in the whole text.
  package func boundedMatch(in text: String, options: MatchingOptions = []) -> MatchOutcome {
    var outcome = MatchOutcome.noMatch
    let isWhole = eachBoundedMatch(in: text, options: options) { match in
      outcome = .match(match.range)
      return false
    }
    return isWhole ? outcome : .undecided
  }

  /// Calls `body` with each match until it returns false.
  ///
  /// - Returns: False if the search ended early because of a limit.
  package func eachBoundedMatch(
    in text: String, options: MatchingOptions = [], _ body: (NSTextCheckingResult) -> Bool
  ) -> Bool {
    var reports = 0
    var isDecided = true
    let all = NSRange(location: 0, length: text.utf16.count)
    let reportsMax = max(Self.stepsMax, Self.stepsPerUnitMax * all.length) / Self.stepsPerReport
    // Foundation on Linux declares the block as escaping, and does not keep it.
    withoutActuallyEscaping(body) { body in
      enumerateMatches(in: text, options: options.union([.reportProgress, .reportCompletion]), range: all) {
        match, flags, stop in
        if flags.contains(.internalError) { isDecided = false }
        if flags.contains(.progress) {
          reports += 1
          if reports > reportsMax {
            isDecided = false
            stop.pointee = true
          }
        }
        if let match, !body(match) { stop.pointee = true }
      }
    }
    return isDecided
  }
}
