import Foundation
import SystemSupport

/// The text operations. The raw values are the first argument of the SQL function `OCD_STRING_COMPARE`, so they never
/// change.
package enum TextOperation: Int64, Sendable, Hashable, CaseIterable {
  case equal = 0
  case less = 1
  case lessOrEqual = 2
  case greater = 3
  case greaterOrEqual = 4
  case contains = 5
  case beginsWith = 6
  case endsWith = 7
  case like = 8
  case matches = 9
}

/// How two texts are compared. The raw value is the second argument of `OCD_STRING_COMPARE`.
package struct TextOptions: OptionSet, Sendable, Hashable {
  package let rawValue: Int64

  package init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  package static let caseInsensitive = TextOptions(rawValue: 1)
  package static let diacriticInsensitive = TextOptions(rawValue: 2)
  /// The right text is already folded by `TextFolding` with the same options, so that it is not folded per row.
  package static let rightIsFolded = TextOptions(rawValue: 4)
  /// The current locale says which texts are equal and which one precedes the other. Only for the operations that ask
  /// for that.
  package static let localized = TextOptions(rawValue: 8)

  static let folding: TextOptions = [.caseInsensitive, .diacriticInsensitive]
}

/// The single implementation of every text operation, for values in memory and, through `OCD_STRING_COMPARE`, in SQL.
///
/// Without options, texts are compared by their UTF-8 bytes, like SQLite's BINARY collation. With options, both are
/// folded first. CONTAINS, BEGINSWITH and ENDSWITH are false for an empty right text, as in Foundation.
package enum TextComparison {
  static func holds(_ operation: TextOperation, options: TextOptions, left: String, right: String)
    -> Bool
  {
    holds(operation, options: options, left: left.utf8Span.span, right: right.utf8Span.span)
  }

  /// - Parameters: UTF-8, not terminated.
  package static func holds(
    _ operation: TextOperation, options: TextOptions, left: Span<UInt8>, right: Span<UInt8>
  ) -> Bool {
    if operation == .matches {
      return RegularExpressions.shared.matches(left, pattern: right, options) ?? false
    }
    if options.contains(.localized),
      let holds = operation.holds(order: LocalizedText.compare(left, right, options: options))
    {
      return holds
    }
    if options.isDisjoint(with: .folding) {
      return ByteComparison(lowersCase: false).holds(operation, left: left, right: right)
    }
    if left.hasOnlyASCII && right.hasOnlyASCII {
      return ByteComparison(lowersCase: options.contains(.caseInsensitive)).holds(operation, left: left, right: right)
    }
    let bytes = ByteComparison(lowersCase: false)
    let foldedLeft = TextFolding.fold(left, options)
    if options.contains(.rightIsFolded) { return bytes.holds(operation, left: foldedLeft.span, right: right) }
    let foldedRight = TextFolding.fold(right, options)
    return bytes.holds(operation, left: foldedLeft.span, right: foldedRight.span)
  }
}

/// MATCHES of a predicate, which ends with an error if it can't be decided: objects would otherwise be left out.
package enum PatternComparison {
  /// The reason of the error.
  package static let undecided =
    "a pattern after MATCHES needs more than \(NSRegularExpression.stepsMax) steps for a text. Write it without "
    + "repetitions inside repetitions."

  /// - Returns: Nil if it can't be decided.
  package static func holds(options: TextOptions, left: Span<UInt8>, right: Span<UInt8>) -> Bool? {
    RegularExpressions.shared.matches(left, pattern: right, options)
  }
}

extension Span<UInt8> {
  var hasOnlyASCII: Bool {
    for index in indices where self[index] >= 0x80 { return false }
    return true
  }
}
