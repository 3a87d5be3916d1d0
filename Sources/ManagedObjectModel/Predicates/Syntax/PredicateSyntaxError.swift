import Foundation

/// An invalid format string: what is wrong, and at which character.
struct PredicateSyntaxError: Error, Equatable {
  let format: String
  /// Counts Unicode scalars from 1; one past the last is the end of the text.
  let position: Int
  let reason: String

  /// The message truncates long formats; the user info has the complete text.
  private static let shownCharactersMax = 500

  var message: String {
    let isLong = format.count > Self.shownCharactersMax
    let shown = isLong ? format.prefix(Self.shownCharactersMax) + "…" : format
    return "Unable to parse the format string \"\(shown)\" at character \(position): \(reason)"
  }

  /// NSFormattingError (2048) in NSCocoaErrorDomain; the user info holds the format string and the position.
  var nsError: NSError {
    NSError(
      domain: NSCocoaErrorDomain, code: CocoaError.Code.formatting.rawValue,
      userInfo: [
        NSLocalizedDescriptionKey: message,
        "NSPredicateFormat": format,
        "NSPredicateFormatPosition": position,
      ])
  }
}
