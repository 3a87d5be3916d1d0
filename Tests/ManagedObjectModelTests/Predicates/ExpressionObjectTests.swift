import Foundation
import ModelTestSupport
import TestSupport
import Testing

@testable import ManagedObjectModel

// Foundation declares classes of these names that can't be created here.
private typealias NSExpression = ManagedObjectModel.NSExpression
private typealias NSComparisonPredicate = ManagedObjectModel.NSComparisonPredicate

// Rules: Apple documentation: NSExpression, NSComparisonPredicate, NSCompoundPredicate.

@Suite("Expressions and comparison predicates are made, taken apart and evaluated as objects", .seeded)
struct ExpressionObjectTests {
  private func key(_ path: String) -> NSExpression { NSExpression(forKeyPath: path) }
  private func value(_ value: Any?) -> NSExpression { NSExpression(forConstantValue: value) }

  @Test("Each kind has its parts")
  func parts() {
    #expect(value(3).expressionType == .constantValue && value(3).constantValue as? Int == 3)
    #expect(value(nil).constantValue == nil)
    let text = NSMutableString(string: "before")
    let kept = value(text)
    text.setString("after")
    #expect(kept.constantValue as? String == "before")
    #expect(NSExpression.expressionForEvaluatedObject().expressionType == .evaluatedObject)
    #expect(NSExpression(forVariable: "x").variable == "x")
    #expect(key("a.b").keyPath == "a.b" && key("a.b").expressionType == .keyPath)
    let sum = NSExpression(forFunction: "sum:", arguments: [key("amount")])
    #expect(sum.expressionType == .function && sum.function == "sum:" && sum.arguments == [key("amount")])
    let list = NSExpression(forAggregate: [value(1), key("a")])
    #expect(list.expressionType == .aggregate && list.collection as? [NSExpression] == [value(1), key("a")])
    let union = NSExpression(forUnionSet: list, with: key("b"))
    #expect(union.expressionType == .unionSet && union.left == list && union.right == key("b"))
    #expect(NSExpression(forIntersectSet: list, with: list).expressionType == .intersectSet)
    #expect(NSExpression(forMinusSet: list, with: list).expressionType == .minusSet)
    let condition = NSPredicate(format: "$x.price > 3")
    let some = NSExpression(forSubquery: key("items"), usingIteratorVariable: "x", predicate: condition)
    #expect(some.expressionType == .subquery && some.variable == "x" && some.predicate == condition)
    #expect(some.collection as? NSExpression == key("items"))
    let choice = NSExpression(forConditional: condition, trueExpression: key("a"), falseExpression: value(2))
    #expect(choice.expressionType == .conditional && choice.predicate == condition)
    #expect(choice.true == key("a") && choice.false == value(2))
    let block = NSExpression(block: { _, _, _ in 1 }, arguments: [key("a")])
    #expect(block.expressionType == .block && block.arguments == [key("a")] && block != choice)
    let shout = NSExpression(forFunction: key("name"), selectorName: "uppercaseString", arguments: nil)
    #expect(shout.function == "uppercase:" && shout.operand == key("name"))
  }

  @Test("The value for an object is that of the kind")
  func values() {
    let object: [String: Any] = ["a": 7, "b": [1, 2, 3], "name": "é", "items": [["price": 2], ["price": 5]]]
    func result(_ expression: NSExpression) -> Any? { expression.expressionValue(with: object, context: nil) }
    #expect(result(key("a")) as? Int == 7)
    #expect(result(NSExpression(forFunction: "divide:by:", arguments: [key("a"), value(2)])) as? Int == 3)
    #expect(result(NSExpression(forFunction: "average:", arguments: [key("b")])) as? Double == 2)
    #expect(result(NSExpression(format: "a * 2 + %@", 1)) as? Int == 15)
    #expect(result(NSExpression(format: "items.@sum.price")) as? Int == 7)
    #expect(result(NSExpression(format: "b[LAST]")) as? Int == 3)
    #expect(result(NSExpression(format: "SUBQUERY(items, $x, $x.price > 3)[FIRST].price")) as? Int == 5)
    #expect(result(NSExpression(format: "{1, 2, 2} UNION {3}")) as? [Int] == [1, 2, 3])
    #expect(result(NSExpression(format: "b INTERSECT {3, 4}")) as? [Int] == [3])
    #expect(result(NSExpression(format: "b MINUS {3, 4}")) as? [Int] == [1, 2])
    #expect(result(NSExpression(forAggregate: [key("a"), value("x")])) as? [AnyHashable] == [7, "x"])
    let block = NSExpression(
      block: { object, arguments, context in
        "\((object as? [String: Any])?.count ?? 0) \(arguments) \(context?["n"] ?? "")"
      },
      arguments: [key("a")])
    #expect(block.expressionValue(with: object, context: ["n": 1]) as? String == "4 [7] 1")
    #expect(NSExpression(forVariable: "n").expressionValue(with: nil, context: ["n": 9]) as? Int == 9)
    let choice = NSExpression(
      forConditional: NSPredicate(format: "a > 3"), trueExpression: value("yes"), falseExpression: value("no"))
    #expect(result(choice) as? String == "yes")
    #expect(NSExpression(format: "now()").expressionValue(with: nil, context: nil) is Date)
  }

  @Test("A comparison has its expressions, modifier, operator and options, and is what its format makes")
  func comparisons() throws {
    let made = NSComparisonPredicate(
      leftExpression: key("name"), rightExpression: value("é"), modifier: .any, type: .beginsWith,
      options: [.caseInsensitive, .diacriticInsensitive])
    #expect(made.predicateFormat == "ANY name BEGINSWITH[cd] \"é\"")
    let parsed = try #require(NSPredicate(format: made.predicateFormat) as? NSComparisonPredicate)
    #expect(parsed == made && parsed.leftExpression == key("name") && parsed.rightExpression == value("é"))
    #expect(parsed.comparisonPredicateModifier == .any && parsed.predicateOperatorType == .beginsWith)
    #expect(parsed.options == [.caseInsensitive, .diacriticInsensitive])
    for type in [NSComparisonPredicate.Operator.lessThan, .in, .contains, .between, .matches, .notEqualTo] {
      let one = NSComparisonPredicate(
        leftExpression: key("a"), rightExpression: key("b"), modifier: .direct, type: type)
      #expect(one.predicateOperatorType == type)
    }
    #expect(NSComparisonPredicate.Operator.contains.rawValue == 99, "as in Apple's header")
  }

  @Test("AND, OR and NOT of a format are compound predicates with their parts")
  func compounds() throws {
    let both = try #require(NSPredicate(format: "a == 1 AND NOT b == 2") as? NSCompoundPredicate)
    #expect(both.compoundPredicateType == .and && both.subpredicates.count == 2)
    #expect((both.subpredicates[0] as? NSComparisonPredicate)?.leftExpression == key("a"))
    #expect((both.subpredicates[1] as? NSCompoundPredicate)?.compoundPredicateType == .not)
    #expect(both.evaluate(with: ["a": 1, "b": 3]) && !both.evaluate(with: ["a": 1, "b": 2]))
    #expect(both.withSubstitutionVariables(["x": 1]) == both)
    #expect(NSPredicate(format: "a == $x").withSubstitutionVariables(["x": 4]).evaluate(with: ["a": 4]))
    #expect(NSPredicate(format: "a == $x").evaluate(with: ["a": 4], substitutionVariables: ["x": 4]))
  }

  @Test("An expression is an argument of a format")
  func argument() {
    let sum = NSExpression(format: "a + 1")
    #expect(NSPredicate(format: "%@ > %d", sum, 3).description == "a + 1 > 3")
  }

  @Test("A block has no SQL, and a fetch with it names that")
  func block() {
    let block = NSExpression(block: { _, _, _ in 1 }, arguments: nil)
    let predicate = NSComparisonPredicate(
      leftExpression: block, rightExpression: value(1), modifier: .direct, type: .equalTo)
    #expect(predicate.evaluate(with: 3))
    #expect {
      try predicate.predicateNode().bound(to: SurfSchema())
    } throws: {
      ($0 as NSError).localizedDescription.contains("has no SQL")
    }
  }

  @Test("The text of random predicates and of their parts parses to equal ones")
  func roundTrip() throws {
    var random = RandomExpressions(generator: SeededGenerator(seed: Randomness.seed), mixes: true)
    for _ in 0..<TestLength.rounds(500, long: 20_000) {
      let node = random.node().mapOperands { operand in
        switch operand {
        case .constant(.real), .constant(.date), .constant(.decimal), .function(.cast, _): .constant(.integer(1))
        default: nil
        }
      }
      let predicate = NSPredicate.made(of: node)
      #expect(NSPredicate(format: predicate.description) == predicate)
      check(predicate)
    }
  }

  private func check(_ predicate: NSPredicate) {
    if let compound = predicate as? NSCompoundPredicate {
      for part in compound.subpredicates { check(part) }
    } else if let comparison = predicate as? NSComparisonPredicate {
      let again = NSComparisonPredicate(
        leftExpression: NSExpression(format: comparison.leftExpression.description),
        rightExpression: NSExpression(format: comparison.rightExpression.description),
        modifier: comparison.comparisonPredicateModifier, type: comparison.predicateOperatorType,
        options: comparison.options)
      #expect(again == comparison)
    }
  }
}
