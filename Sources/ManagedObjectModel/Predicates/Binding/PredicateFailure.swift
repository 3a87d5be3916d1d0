import Foundation

/// The errors of predicates that parse but cannot be used: NSCocoaErrorDomain, code 134060 (NSCoreDataError), or 134180
/// (NSSQLiteError) if the only obstacle is a limit of SQLite.
package enum PredicateFailure {
  static let coreDataError = 134060
  static let sqliteError = 134180

  private static func error(
    _ message: String, code: Int = coreDataError, _ userInfo: [String: Any] = [:]
  ) -> NSError {
    NSError(
      domain: NSCocoaErrorDomain, code: code,
      userInfo: userInfo.merging([NSLocalizedDescriptionKey: message]) { _, message in message })
  }

  private static func unusable(_ comparison: PredicateComparison, _ reason: String) -> NSError {
    let text = comparison.formatDescription
    return error(
      "The predicate '\(shortened(text))' cannot be used: \(reason)",
      ["NSPredicateFormat": text, NSLocalizedFailureReasonErrorKey: reason])
  }

  /// - Parameter reason: A sentence.
  static func expression(_ operand: PredicateOperand, _ reason: String) -> NSError {
    error("The expression '\(shortened(operand.formatDescription))' cannot be used: \(reason)")
  }

  /// A constant that does not convert to the attribute's type.
  static func mismatch(
    _ constant: PredicateConstant, _ type: PredicateValueType, name: String?,
    in comparison: PredicateComparison
  ) -> NSError {
    let value = shortened(constant.formatDescription)
    let what = name.map { "\($0) is \(type.describedName)" } ?? "the other side is \(type.describedName)"
    return unusable(comparison, "\(what), and \(value) is not. \(advice(type))")
  }

  private static func advice(_ type: PredicateValueType) -> String {
    switch type {
    case .integer, .real, .decimal: "Compare it with a number."
    case .boolean: "Compare it with YES or NO."
    case .date:
      "Pass a Date, or write an ISO 8601 date in quotes, such as '2014-07-14' or '2014-07-14T08:30:00Z'."
    case .text: "Write the value in quotes."
    case .uri: "Pass a URL, or write it in quotes."
    case .uuid: "Pass a UUID, or write its 36 characters in quotes."
    case .blob: "Pass Data."
    case .object: "Pass a managed object, its objectID, or nil."
    }
  }

  static func incomparable(
    _ left: (name: String, type: PredicateValueType), _ right: (name: String, type: PredicateValueType),
    in comparison: PredicateComparison
  ) -> NSError {
    unusable(
      comparison,
      "\(left.name) is \(left.type.describedName), but \(right.name) is \(right.type.describedName). "
        + "Compare attributes of like types.")
  }

  static func unordered(_ name: String, in comparison: PredicateComparison) -> NSError {
    unusable(
      comparison, "\(name) is an object, and objects have no order. Use ==, != or IN, or compare an attribute.")
  }

  static func notText(
    _ described: String, _ type: PredicateValueType, in comparison: PredicateComparison
  ) -> NSError {
    unusable(
      comparison,
      "\(comparison.operation.rawValue) compares text, and \(described) is \(type.describedName). "
        + "Use ==, <, > or BETWEEN.")
  }

  static func manyValues(_ elements: BoundElements, in comparison: PredicateComparison) -> NSError {
    unusable(
      comparison,
      "it leads through \(elements.path.last ?? ""), which is a to-many relationship and has no single value. Write "
        + "ANY, ALL or NONE before the comparison, look for a value with IN, or count with @count.")
  }

  static func noElements(in comparison: PredicateComparison) -> NSError {
    unusable(
      comparison,
      "\(comparison.modifier.rawValue) needs a key path through a to-many relationship on its left. Leave "
        + "\(comparison.modifier.rawValue) out.")
  }

  static func severalCollections(in comparison: PredicateComparison) -> NSError {
    unusable(
      comparison,
      "a key path leads through more than one to-many relationship. Use one subquery for each of them: "
        + "SUBQUERY(a, $x, ANY $x.b.c == 1).@count > 0.")
  }

  static func noCollection(_ operand: PredicateOperand, in comparison: PredicateComparison) -> NSError {
    switch operand {
    case .function(.first, _), .function(.last, _), .function(.element, _):
      unusable(comparison, "\(operand.formatDescription): \(elementAtPosition)")
    default:
      unusable(comparison, "SUBQUERY needs a to-many relationship, and \(operand.formatDescription) is none. Name one.")
    }
  }

  /// Why a position in a relationship is refused.
  static let elementAtPosition =
    "a store has no SQL for an element at a position. Use ANY, or SUBQUERY with a condition on what tells the element "
    + "apart."

  static func misplacedOperator(_ word: String, in comparison: PredicateComparison) -> NSError {
    unusable(
      comparison,
      "\(word) follows a to-many relationship: items.@count, or items.\(word).price for what it computes of a value.")
  }

  static func unfinishedOperator(_ word: CollectionOperator) -> NSError {
    error("\(word.rawValue) needs a key after it, whose values it gives: items.\(word.rawValue).price.")
  }

  static func pathAfterDistinct(in comparison: PredicateComparison) -> NSError {
    unusable(
      comparison,
      "a key path can't follow the values of @distinctUnionOfObjects. Write the whole path after the operator.")
  }

  static func severalParts(_ operand: PredicateOperand, in comparison: PredicateComparison) -> NSError {
    unusable(
      comparison,
      "\(operand.formatDescription) has several values at more than one position, so it is not clear which belong "
        + "together. Use SUBQUERY and @count: SUBQUERY(items, $x, $x.a + $x.b > 3).@count > 0.")
  }

  static func noNumber(_ name: String, _ type: PredicateValueType, in comparison: PredicateComparison) -> NSError {
    unusable(comparison, "only numbers are added up, and \(name) is \(type.describedName). Use @min, @max or @count.")
  }

  /// A function that can't be called with these arguments.
  static func call(_ name: String, _ reason: String, in comparison: PredicateComparison) -> NSError {
    unusable(comparison, "\(shortened(name)): \(reason)")
  }

  static func unexpectedList(in comparison: PredicateComparison) -> NSError {
    unusable(
      comparison, "a list can only follow IN or BETWEEN. Use IN to look for one of several values.")
  }

  static func expectedList(_ expectation: String, in comparison: PredicateComparison) -> NSError {
    unusable(comparison, "\(comparison.operation.rawValue) needs \(expectation) on its right.")
  }

  static func unsupported(typeName: String, in comparison: PredicateComparison) -> NSError {
    unusable(
      comparison,
      "an argument of type \(typeName) cannot be compared with an attribute. "
        + "Pass a number, text, Date, UUID, URL, Data or a list of them.")
  }

  static func unbound(variable: String, in comparison: PredicateComparison) -> NSError {
    unusable(comparison, "$\(variable) has no value. Give it one through withSubstitutionVariables.")
  }

  static func pattern(_ reason: String, in comparison: PredicateComparison) -> NSError {
    unusable(comparison, reason)
  }

  static func block(_ block: PredicateBlock, in comparison: PredicateComparison) -> NSError {
    let name =
      switch block.kind {
      case .client: "an expression made from a block"
      case .method(let method): "the method '\(method)'"
      case .fetch: "FETCH"
      }
    return unusable(comparison, "\(name) has no SQL. Fetch without it and filter the objects with it.")
  }

  static func untranslatable(_ predicate: NSPredicate) -> NSError {
    let made = error(
      "A predicate made from a block (\(type(of: predicate))) cannot be translated to SQL. Make it with "
        + "NSPredicate(format:), or fetch without it and filter the objects with it.")
    return NSError(
      domain: made.domain, code: made.code, userInfo: made.userInfo.merging([blockKey: true]) { $1 })
  }

  /// Marks the error of a predicate that was made from a block.
  fileprivate static let blockKey = "OpenCoreDataPredicateBlock"

  package static func tooManyValues(_ count: Int, max: Int) -> NSError {
    error(
      "The predicate has \(count) values, and an SQL statement takes \(max). Replace comparisons with one "
        + "attribute by key IN a list, or fetch in several parts.", code: sqliteError)
  }

  package static func tooDeep(max: Int) -> NSError {
    error(
      "The predicate nests deeper than \(max) levels, which is more than SQLite accepts. Reduce the nesting.",
      code: sqliteError)
  }

  static func noVariable(_ name: String) -> NSError {
    error("$\(name) has no value. Give it one through withSubstitutionVariables.")
  }

  static func noElements(of operand: PredicateOperand) -> NSError {
    error("\(operand.formatDescription) is not a collection, and SUBQUERY needs one. Name a to-many relationship.")
  }

  static func noValue(_ keyPath: [String], of object: Any) -> NSError {
    error(
      "\(type(of: object)) has no value for the key path '\(keyPath.joined(separator: "."))'. Predicates and sort "
        + "descriptors read managed objects and dictionaries with text keys.")
  }

  static func unreadableKeyPath(_ keyPath: String) -> NSError {
    error(
      "The name of the property that the sort descriptor's key path \(keyPath) leads to cannot be found. Use "
        + "NSSortDescriptor(key:ascending:).")
  }

  static func comparator(key: String) -> NSError {
    error(
      "A sort descriptor with a comparator (key '\(key)') cannot be translated to SQL. Sort the fetched objects "
        + "with it, or leave the comparator out.")
  }

  static func noSortKey() -> NSError {
    error("A sort descriptor without a key cannot order a fetch. Name an attribute.")
  }

  private static func shortened(_ text: String) -> String {
    text.count <= 200 ? text : text.prefix(200) + "…"
  }
}

extension NSError {
  /// Whether a predicate was refused because it was made from a block.
  package var isOfBlock: Bool { userInfo[PredicateFailure.blockKey] as? Bool == true }
}
