import Foundation

/// A predicate of a compiled model, read as data from an archived NSPredicate.
indirect enum ArchivedPredicate {
  case constant(Bool)
  case comparison(ArchivedComparison)
  case not(ArchivedPredicate)
  case and([ArchivedPredicate])
  case or([ArchivedPredicate])
}

struct ArchivedComparison {
  enum Modifier: Int {
    case direct = 0
    case all, any
  }

  let left: ArchivedExpression
  let operation: PredicateOperator
  let options: PredicateOptions
  let modifier: Modifier
  let right: ArchivedExpression
}

indirect enum ArchivedExpression {
  case constant(PredicateConstant)
  case selfObject
  case variable(String)
  /// The keys, of the object itself or of the result of another expression.
  case keyPath(String, of: ArchivedExpression)
  /// The name and the arguments.
  case function(String, [ArchivedExpression])
  /// A method of what another expression gives.
  case call(String, of: ArchivedExpression, [ArchivedExpression])
  /// What a fetch finds, or how many objects it finds.
  case fetch(ArchivedExpression, context: ArchivedExpression, countOnly: Bool)
  case aggregate([ArchivedExpression])
  case subquery(ArchivedExpression, variable: String, ArchivedPredicate)
}

/// Reads predicates and expressions; nil for unknown forms.
struct ArchivedPredicateReader {
  let archive: KeyedArchive

  /// Archives can contain cycles, and so many references to one part that it expands without limit.
  private static let depthMax = 32
  private static let partsMax = 10_000

  func predicate(_ value: ArchiveValue?) -> ArchivedPredicate? {
    var left = Self.partsMax
    return predicate(value, depth: 0, left: &left)
  }

  func expression(_ value: ArchiveValue?) -> ArchivedExpression? {
    var left = Self.partsMax
    return expression(value, depth: 0, left: &left)
  }

  private func mayGoOn(_ depth: Int, _ left: inout Int) -> Bool {
    left -= 1
    return depth < Self.depthMax && left >= 0
  }

  private func predicate(_ value: ArchiveValue?, depth: Int, left: inout Int) -> ArchivedPredicate? {
    guard mayGoOn(depth, &left), let object = archive.object(value) else { return nil }
    switch object.className {
    case "NSTruePredicate": return .constant(true)
    case "NSFalsePredicate": return .constant(false)
    case "NSComparisonPredicate": return comparison(object, depth: depth, left: &left).map(ArchivedPredicate.comparison)
    case "NSCompoundPredicate":
      let members = archive.members(object.values["NSSubpredicates"]) ?? []
      let parts = members.compactMap { predicate($0, depth: depth + 1, left: &left) }
      guard parts.count == members.count else { return nil }
      switch archive.integer(object.values["NSCompoundPredicateType"]) {
      case 0: return parts.count == 1 ? .not(parts[0]) : nil
      case 1: return .and(parts)
      case 2: return .or(parts)
      default: return nil
      }
    default: return nil
    }
  }

  /// Operator types in Apple's numbering (NSComparisonPredicate.h).
  private static let operators: [Int: PredicateOperator] = [
    0: .less, 1: .lessOrEqual, 2: .greater, 3: .greaterOrEqual, 4: .equal, 5: .notEqual,
    6: .matches, 7: .like, 8: .beginsWith, 9: .endsWith, 10: .isIn, 99: .contains, 100: .between,
  ]

  private func comparison(_ object: KeyedArchive.Object, depth: Int, left: inout Int) -> ArchivedComparison? {
    guard let first = expression(object.values["NSLeftExpression"], depth: depth + 1, left: &left),
      let second = expression(object.values["NSRightExpression"], depth: depth + 1, left: &left),
      let how = archive.object(object.values["NSPredicateOperator"]),
      let operation = archive.integer(how.values["NSOperatorType"]).flatMap({ Self.operators[$0] }),
      let modifier = ArchivedComparison.Modifier(rawValue: archive.integer(how.values["NSModifier"]) ?? 0)
    else { return nil }
    // Text operators call flags what the other operators call options.
    let bits = archive.integer(how.values["NSFlags"] ?? how.values["NSOptions"]) ?? 0
    var options: PredicateOptions = []
    if bits & 1 != 0 { options.insert(.caseInsensitive) }
    if bits & 2 != 0 { options.insert(.diacriticInsensitive) }
    return ArchivedComparison(left: first, operation: operation, options: options, modifier: modifier, right: second)
  }

  private func expression(_ value: ArchiveValue?, depth: Int, left: inout Int) -> ArchivedExpression? {
    guard mayGoOn(depth, &left), let object = archive.object(value) else { return nil }
    switch object.className {
    case "NSSelfExpression": return .selfObject
    case "NSVariableExpression", "NSVariableAssignmentExpression":
      return archive.text(object.values["NSVariable"]).map(ArchivedExpression.variable)
    case "NSConstantValueExpression":
      return constant(object.values["NSConstantValue"], depth: depth, left: &left).map(ArchivedExpression.constant)
    case "NSAggregateExpression":
      return list(object.values["NSCollection"], depth: depth, left: &left).map(ArchivedExpression.aggregate)
    case "NSKeyPathSpecifierExpression":
      return archive.text(object.values["NSKeyPath"]).map { .keyPath($0, of: .selfObject) }
    case "NSKeyPathExpression", "NSFunctionExpression": return function(object, depth: depth, left: &left)
    case "NSFetchRequestExpression":
      guard let request = expression(object.values["NSFRExpression"], depth: depth + 1, left: &left),
        let context = expression(object.values["NSMOCExpression"], depth: depth + 1, left: &left)
      else { return nil }
      return .fetch(request, context: context, countOnly: archive.flag(object.values["NSCountOnlyFlag"]))
    case "NSSubqueryExpression":
      guard let collection = expression(object.values["NSExpression"], depth: depth + 1, left: &left),
        let variable = archive.text(object.values["NSVariable"]),
        let condition = predicate(object.values["NSPredicate"], depth: depth + 1, left: &left)
      else { return nil }
      return .subquery(collection, variable: variable, condition)
    default: return nil
    }
  }

  private func list(_ value: ArchiveValue?, depth: Int, left: inout Int) -> [ArchivedExpression]? {
    guard let members = archive.members(value) else { return nil }
    let parts = members.compactMap { expression($0, depth: depth + 1, left: &left) }
    return parts.count == members.count ? parts : nil
  }

  /// A key path is archived as a call of `valueForKeyPath:` with the keys as the argument.
  private func function(_ object: KeyedArchive.Object, depth: Int, left: inout Int) -> ArchivedExpression? {
    guard let name = archive.text(object.values["NSSelectorName"]),
      let arguments = list(object.values["NSArguments"] ?? .list([]), depth: depth, left: &left)
    else { return nil }
    guard !isFunction(name, object.values["NSOperand"]) else { return .function(name, arguments) }
    guard let operand = expression(object.values["NSOperand"], depth: depth + 1, left: &left) else { return nil }
    guard name == "valueForKey:" || name == "valueForKeyPath:" else { return .call(name, of: operand, arguments) }
    guard arguments.count == 1 else { return nil }
    switch arguments[0] {
    case .keyPath(let keys, of: .selfObject), .constant(.text(let keys)): return .keyPath(keys, of: operand)
    default: return nil
    }
  }

  /// Whether a name is that of a function: its operand then is a class of Foundation, or the argument of
  /// `length`. Old archives have none.
  private func isFunction(_ name: String, _ operand: ArchiveValue?) -> Bool {
    guard let object = archive.object(operand) else { return !name.hasPrefix("valueForKey") }
    switch object.className {
    case "NSConstantValueExpression": return archive.text(object.values["NSConstantValueClassName"]) != nil
    case "NSSelfExpression": return name == "length"
    default: return false
    }
  }

  private func constant(_ value: ArchiveValue?, depth: Int, left: inout Int) -> PredicateConstant? {
    guard mayGoOn(depth, &left) else { return nil }
    if let members = archive.object(value).flatMap({ archive.members($0.values["NS.objects"]) }) {
      let parts = members.compactMap { constant($0, depth: depth + 1, left: &left) }
      return parts.count == members.count ? .collection(parts) : nil
    }
    switch archive.foundationValue(value) {
    case nil: return archive.resolved(value) == .null ? .null : nil
    case let text as String: return .text(text)
    case let date as Date: return .date(date)
    case let uuid as UUID: return .uuid(uuid)
    case let url as URL: return .url(url)
    case let data as Data: return .data(data)
    case let decimal as Decimal: return .decimal(decimal)
    case let flag as Bool: return .boolean(flag)
    case let number as Int64: return .integer(number)
    case let number as Double: return .real(number)
    default: return nil
    }
  }
}
