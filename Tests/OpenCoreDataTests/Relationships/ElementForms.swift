import Foundation
import TestSupport

/// A graph as plain values, and what predicates about it mean, written without the library: clubs have members and a
/// leader, members have tags and friends.
final class PlainObject {
  enum Value: Hashable {
    case none
    case number(Double)
    case text(String)
  }

  let kind: String
  let number: Int
  var values: [String: Value]
  var one: [String: PlainObject] = [:]
  var many: [String: [PlainObject]] = [:]

  init(kind: String, number: Int, values: [String: Value]) {
    self.kind = kind
    self.number = number
    self.values = values
  }

  func value(_ key: String) -> Value { values[key] ?? .none }
}

/// A path to elements: perhaps a to-one relationship, then the to-many one.
struct PlainPath {
  let steps: [String]
  /// Indices of the elements.
  let kind: String

  var text: String { steps.joined(separator: ".") }

  func elements(of object: PlainObject) -> [PlainObject] {
    var owner = object
    for step in steps.dropLast() {
      guard let next = owner.one[step] else { return [] }
      owner = next
    }
    return owner.many[steps[steps.count - 1]] ?? []
  }
}

enum PlainRelation: String, CaseIterable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="

  func holds(_ left: PlainObject.Value, _ right: PlainObject.Value, options: String = "") -> Bool {
    let order: Int
    switch (left, right) {
    case (.number(let left), .number(let right)): order = left < right ? -1 : left > right ? 1 : 0
    case (.text(let left), .text(let right)):
      let (left, right) = (PlainText.fold(left, options), PlainText.fold(right, options))
      order = left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : Array(left.utf8) == Array(right.utf8) ? 0 : 1
    default: return left == right ? self == .equal : self == .notEqual
    }
    switch self {
    case .equal: return order == 0
    case .notEqual: return order != 0
    case .less: return order < 0
    case .lessOrEqual: return order <= 0
    case .greater: return order > 0
    case .greaterOrEqual: return order >= 0
    }
  }
}

/// Texts whose forms without case and accents are known by hand.
enum PlainText {
  private static let forms: [String: (lower: String, bare: String)] = [
    "": ("", ""), "a": ("a", "a"), "A": ("a", "A"), "á": ("á", "a"), "Á": ("á", "A"), "ab": ("ab", "ab"),
    "ÀB": ("àb", "AB"), "b": ("b", "b"),
  ]
  static let all = forms.keys.sorted()

  static func fold(_ text: String, _ options: String) -> String {
    guard let form = forms[text] else { return text }
    switch options {
    case "[c]": return form.lower
    case "[d]": return form.bare
    case "[cd]": return form.bare.lowercased()
    default: return text
    }
  }
}

/// A predicate as a test writes it: its text, and its meaning.
struct PlainForm {
  let text: String
  /// - Parameter scope: The evaluated object, and the elements of the subqueries around it.
  let holds: (_ object: PlainObject) -> Bool
}

/// Makes random predicates.
struct ElementForms {
  var generator: SeededGenerator
  /// Makes the meaning of ALL over nothing wrong, to show that the comparison notices.
  var isWrong = false

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  static let attributes: [String: [String: Bool]] = [
    "Club": ["name": true, "rank": false, "score": false],
    "Person": ["name": true, "age": false, "height": false],
    "Tag": ["word": true, "weight": false],
  ]
  static let paths: [String: [PlainPath]] = [
    "Club": [
      PlainPath(steps: ["members"], kind: "Person"), PlainPath(steps: ["leader", "tags"], kind: "Tag"),
      PlainPath(steps: ["leader", "friends"], kind: "Person"),
    ],
    "Person": [
      PlainPath(steps: ["tags"], kind: "Tag"), PlainPath(steps: ["friends"], kind: "Person"),
      PlainPath(steps: ["club", "members"], kind: "Person"), PlainPath(steps: ["leads"], kind: "Club"),
    ],
    "Tag": [PlainPath(steps: ["people"], kind: "Person")],
  ]

  mutating func one<Element>(of list: [Element]) -> Element { list[Int.random(in: list.indices, using: &generator)] }
  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

  mutating func value(isText: Bool) -> PlainObject.Value {
    if chance(15) { return .none }
    return isText ? .text(one(of: PlainText.all)) : .number(one(of: [-1, 0, 1, 2, 3, 5]))
  }

  static func literal(_ value: PlainObject.Value) -> String {
    switch value {
    case .none: "nil"
    case .number(let number): number == number.rounded() ? String(Int(number)) : String(number)
    case .text(let text): "'\(text)'"
    }
  }

  mutating func form(_ kind: String, depth: Int = 2) -> PlainForm {
    if depth > 0, chance(40) {
      let (first, second) = (form(kind, depth: depth - 1), form(kind, depth: depth - 1))
      switch Int.random(in: 0..<3, using: &generator) {
      case 0: return PlainForm(text: "NOT (\(first.text))") { !first.holds($0) }
      case 1: return PlainForm(text: "(\(first.text)) AND (\(second.text))") { first.holds($0) && second.holds($0) }
      default: return PlainForm(text: "(\(first.text)) OR (\(second.text))") { first.holds($0) || second.holds($0) }
      }
    }
    let path = one(of: Self.paths[kind] ?? [])
    switch Int.random(in: 0..<8, using: &generator) {
    case 0, 1: return quantified(path)
    case 2: return counted(path)
    case 3: return member(path)
    case 4: return summary(path)
    case 5: return computed(path)
    case 6: return union(path)
    default: return subquery(path, of: kind)
    }
  }

  mutating func attribute(_ kind: String, isText: Bool? = nil) -> (name: String, isText: Bool) {
    let known = (Self.attributes[kind] ?? [:]).filter { isText == nil || $0.value == isText }
    let name = one(of: known.keys.sorted())
    return (name, known[name] ?? false)
  }

  private mutating func options(_ isText: Bool) -> String { isText ? one(of: ["", "", "[c]", "[d]", "[cd]"]) : "" }

  private mutating func quantified(_ path: PlainPath) -> PlainForm {
    let (name, isText) = attribute(path.kind)
    let (word, relation) = (one(of: ["ANY", "SOME", "ALL", "NONE"]), one(of: PlainRelation.allCases))
    let (value, options) = (value(isText: isText), options(isText))
    let emptyAnswer = !isWrong
    return PlainForm(
      text: "\(word) \(path.text).\(name) \(relation.rawValue)\(options) \(Self.literal(value))"
    ) { object in
      let elements = path.elements(of: object)
      let count = elements.filter { relation.holds($0.value(name), value, options: options) }.count
      switch word {
      case "ALL": return elements.isEmpty ? emptyAnswer : count == elements.count
      case "NONE": return count == 0
      default: return count > 0
      }
    }
  }

  private mutating func counted(_ path: PlainPath) -> PlainForm {
    let (relation, number) = (one(of: PlainRelation.allCases), Int.random(in: 0...3, using: &generator))
    return PlainForm(text: "\(path.text).@count \(relation.rawValue) \(number)") { object in
      relation.holds(.number(Double(path.elements(of: object).count)), .number(Double(number)))
    }
  }

  private mutating func member(_ path: PlainPath) -> PlainForm {
    let (name, isText) = attribute(path.kind)
    let (value, options, isTurned) = (value(isText: isText), options(isText), chance(50))
    let text =
      isTurned
      ? "\(path.text).\(name) CONTAINS\(options) \(Self.literal(value))"
      : "\(Self.literal(value)) IN\(options) \(path.text).\(name)"
    return PlainForm(text: text) { object in
      path.elements(of: object).contains { PlainRelation.equal.holds($0.value(name), value, options: options) }
    }
  }

  private mutating func summary(_ path: PlainPath) -> PlainForm {
    let word = one(of: ["@sum", "@avg", "@min", "@max"])
    let (name, isText) = attribute(path.kind, isText: word == "@min" || word == "@max" ? nil : false)
    let (relation, value) = (one(of: PlainRelation.allCases), value(isText: isText))
    let isHalved = !isText && chance(40)
    let text = "\(path.text).\(word).\(name)\(isHalved ? " / 2" : "") \(relation.rawValue) \(Self.literal(value))"
    let isWhole = word != "@avg" && Self.wholeAttributes.contains(name)
    return PlainForm(text: text) { object in
      let values = path.elements(of: object).map { $0.value(name) }.filter { $0 != .none }
      let summary = Self.summary(word, values)
      return relation.holds(isHalved ? Self.half(summary, isWhole: isWhole) : summary, value)
    }
  }

  private static let wholeAttributes: Set<String> = ["rank", "age"]

  /// Whole numbers are divided without a remainder.
  private static func half(_ value: PlainObject.Value, isWhole: Bool) -> PlainObject.Value {
    guard case .number(let number) = value else { return value }
    return .number(isWhole ? (number / 2).rounded(.towardZero) : number / 2)
  }

  private static func summary(_ word: String, _ values: [PlainObject.Value]) -> PlainObject.Value {
    let sum = values.reduce(0.0) { sum, value in if case .number(let number) = value { sum + number } else { sum } }
    switch word {
    case "@sum": return .number(sum)
    case "@avg": return values.isEmpty ? .none : .number(sum / Double(values.count))
    default:
      let relation = word == "@min" ? PlainRelation.less : .greater
      return values.reduce(.none) { best, value in
        best == .none || relation.holds(value, best) ? value : best
      }
    }
  }

  private mutating func subquery(_ path: PlainPath, of kind: String) -> PlainForm {
    let (name, isText) = attribute(path.kind)
    let (relation, options) = (one(of: PlainRelation.allCases), options(isText))
    let (count, counted) = (Int.random(in: 0...2, using: &generator), one(of: PlainRelation.allCases))
    var condition: String
    var test: (PlainObject, PlainObject) -> Bool
    if chance(40) {
      let (outer, _) = attribute(kind, isText: isText)
      condition = "$x.\(name) \(relation.rawValue)\(options) \(outer)"
      test = { relation.holds($1.value(name), $0.value(outer), options: options) }
    } else {
      let value = value(isText: isText)
      condition = "$x.\(name) \(relation.rawValue)\(options) \(Self.literal(value))"
      test = { relation.holds($1.value(name), value, options: options) }
    }
    if chance(40), let inner = Self.paths[path.kind]?.first {
      let (innerName, innerIsText) = attribute(inner.kind)
      let value = value(isText: innerIsText)
      let first = test
      condition += " OR ANY $x.\(inner.text).\(innerName) == \(Self.literal(value))"
      test = { object, element in
        first(object, element)
          || inner.elements(of: element).contains { PlainRelation.equal.holds($0.value(innerName), value) }
      }
    }
    return PlainForm(text: "SUBQUERY(\(path.text), $x, \(condition)).@count \(counted.rawValue) \(count)") { object in
      let found = path.elements(of: object).count { test(object, $0) }
      return counted.holds(.number(Double(found)), .number(Double(count)))
    }
  }
}
