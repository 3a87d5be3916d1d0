import Foundation
import TestSupport

/// Predicates with functions of each element, and with unions.
extension ElementForms {
  /// ANY, ALL or NONE before a function of each element.
  mutating func computed(_ path: PlainPath) -> PlainForm {
    let (name, isText) = attribute(path.kind)
    let (word, relation) = (one(of: ["ANY", "SOME", "ALL", "NONE"]), one(of: PlainRelation.allCases))
    let (value, key) = (value(isText: false), "\(path.text).\(name)")
    let functions: [(text: String, value: (Double) -> Double)] = [
      ("\(key) * 2 - 1", { $0 * 2 - 1 }), ("abs(\(key))", { abs($0) }), ("3 - \(key)", { 3 - $0 }),
      ("TERNARY(1 == 1, \(key) + 1, 7)", { $0 + 1 }),
    ]
    let function = isText ? ("length(\(key))", { $0 }) : one(of: functions)
    func computed(_ object: PlainObject) -> PlainObject.Value {
      switch object.value(name) {
      case .none: .none
      case .number(let number): .number(function.1(number))
      case .text(let text): .number(Double(text.utf16.count))
      }
    }
    let isWrong = isWrong
    return PlainForm(text: "\(word) \(function.0) \(relation.rawValue) \(Self.literal(value))") { object in
      let elements = path.elements(of: object)
      let count = elements.filter { relation.holds(computed($0), value) }.count
      switch word {
      case "ALL": return elements.isEmpty ? !isWrong : count == elements.count
      case "NONE": return count == 0
      default: return count > 0
      }
    }
  }

  /// The values of the elements that are not nil, each of them or each different one.
  mutating func union(_ path: PlainPath) -> PlainForm {
    let isDistinct = chance(60)
    let (name, isText) = attribute(path.kind)
    let key = "\(path.text).\(isDistinct ? "@distinctUnionOfObjects" : "@unionOfObjects").\(name)"
    let relation = one(of: PlainRelation.allCases)
    func values(_ object: PlainObject) -> [PlainObject.Value] {
      let all = path.elements(of: object).map { $0.value(name) }.filter { $0 != .none }
      return isDistinct ? Array(Set(all)) : all
    }
    switch Int.random(in: 0..<4, using: &generator) {
    case 0:
      let number = Double(Int.random(in: 0...3, using: &generator))
      return PlainForm(text: "count(\(key)) \(relation.rawValue) \(Int(number))") { object in
        relation.holds(.number(Double(values(object).count)), .number(number))
      }
    case 1 where !isText:
      let (value, word) = (value(isText: false), one(of: ["sum", "average", "max"]))
      return PlainForm(text: "\(word)(\(key)) \(relation.rawValue) \(Self.literal(value))") { object in
        relation.holds(Self.total(word, of: values(object)), value)
      }
    case 2:
      let value = value(isText: isText)
      return PlainForm(text: "\(Self.literal(value)) IN \(key)") { values($0).contains(value) }
    default:
      let (value, word) = (value(isText: isText), one(of: ["ANY", "ALL", "NONE"]))
      return PlainForm(text: "\(word) \(key) \(relation.rawValue) \(Self.literal(value))") { object in
        let all = values(object)
        let count = all.filter { relation.holds($0, value) }.count
        return word == "ALL" ? count == all.count : (count > 0) == (word == "ANY")
      }
    }
  }

  private static func total(_ word: String, of values: [PlainObject.Value]) -> PlainObject.Value {
    let numbers = values.compactMap { value in if case .number(let number) = value { number } else { nil } }
    let sum = numbers.reduce(0, +)
    switch word {
    case "sum": return .number(sum)
    case "average": return numbers.isEmpty ? .none : .number(sum / Double(numbers.count))
    default: return numbers.max().map { .number($0) } ?? .none
    }
  }
}
