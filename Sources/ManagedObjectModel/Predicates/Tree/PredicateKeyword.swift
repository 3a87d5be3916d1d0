/// The reserved words of the predicate language, case-insensitive (Predicate Format String Syntax, "Reserved Words"). A
/// key with the same spelling needs the prefix `#`.
enum PredicateKeyword: Hashable {
  case and, or, not
  case comparison(PredicateOperator)
  case truePredicate, falsePredicate
  case boolean(Bool)
  case null
  case selfObject
  case cast
  /// ANY, SOME, ALL or NONE.
  case quantifier(PredicateModifier, isNegated: Bool)
  case subquery
  case ternary
  /// FUNCTION, which calls a method by its name.
  case function
  /// FETCH, which executes a fetch request.
  case fetch
  /// Words that Apple's parser supports and this one does not.
  case unsupported

  init?(_ word: String) {
    guard let keyword = Self.words[word.uppercased()] else { return nil }
    self = keyword
  }

  private static let words: [String: PredicateKeyword] = [
    "AND": .and, "OR": .or, "NOT": .not,
    "BETWEEN": .comparison(.between), "IN": .comparison(.isIn), "CONTAINS": .comparison(.contains),
    "BEGINSWITH": .comparison(.beginsWith), "ENDSWITH": .comparison(.endsWith),
    "LIKE": .comparison(.like), "MATCHES": .comparison(.matches),
    "TRUEPREDICATE": .truePredicate, "FALSEPREDICATE": .falsePredicate,
    "TRUE": .boolean(true), "YES": .boolean(true), "FALSE": .boolean(false), "NO": .boolean(false),
    "NULL": .null, "NIL": .null, "SELF": .selfObject, "CAST": .cast,
    "ANY": .quantifier(.any, isNegated: false), "SOME": .quantifier(.any, isNegated: false),
    "ALL": .quantifier(.all, isNegated: false), "NONE": .quantifier(.any, isNegated: true),
    "SUBQUERY": .subquery, "TERNARY": .ternary, "FUNCTION": .function, "FETCH": .fetch, "ANYKEY": .unsupported,
  ]
}
