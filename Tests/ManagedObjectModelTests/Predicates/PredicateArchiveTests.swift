import Foundation
import ModelTestSupport
import TestSupport
import Testing

@testable import ManagedObjectModel

private typealias NSExpression = ManagedObjectModel.NSExpression
private typealias NSComparisonPredicate = ManagedObjectModel.NSComparisonPredicate

// Rule: Apple documentation: NSPredicate and NSExpression conform to NSSecureCoding; a predicate made from a block can't
// be archived. Foundation's own NSPredicate does not conform here.

@Suite("Predicates and expressions are archived with secure coding", .seeded)
struct PredicateArchiveTests {
  private func archive(_ object: Any) throws -> Data {
    try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
  }

  private func read(_ data: Data) throws -> NSPredicate? {
    try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSPredicate.self], from: data) as? NSPredicate
  }

  private func copy(_ predicate: NSPredicate) throws -> NSPredicate? {
    try read(archive(predicate))
  }

  @Test("a predicate is read as an equal one of the same class")
  func predicates() throws {
    let formats = [
      "TRUEPREDICATE", "rating > 3", "NOT name LIKE[cd] 'a*'", "a == 1 AND (b == 2 OR c IN {1, nil, 'x'})",
      "ANY tags.word ==[cn] 'sea' OR NONE length(tags.word) > $least",
      "SUBQUERY(items, $x, $x.price > $value0).@count > 1",
      "CAST(3, 'NSDate') < date", "FUNCTION(SELF, 'uppercaseString') == 'A'", "TERNARY(a == 1, -3, b - -4) == 2.5",
    ]
    for format in formats {
      let predicate = NSPredicate(format: format)
      let read = try #require(try copy(predicate), "\(format)")
      read.allowEvaluation()
      let made = NSPredicate.made(of: try read.predicateNode())
      #expect(read.parsedNode == predicate.parsedNode)
      #expect(type(of: read) == type(of: made))
      #expect(read.formatDescription == predicate.formatDescription)
    }
  }

  @Test("random predicates are read as equal ones, with every kind of value")
  func random() throws {
    var random = RandomPredicates(seed: Randomness.seed)
    for _ in 0..<TestLength.rounds(200, long: 5_000) {
      let node = random.node()
      let read = try #require(try copy(NSPredicate.made(of: node)))
      // NaN is not equal to itself.
      #expect(try read.predicateNode().formatDescription == node.formatDescription)
      if !node.formatDescription.lowercased().contains("nan") { #expect(read.parsedNode == node) }
    }
  }

  @Test("values keep their types")
  func values() throws {
    let uuid = UUID()
    let date = Date(timeIntervalSinceReferenceDate: 0.1 + 0.2)
    let predicate = NSPredicate(
      format: "a IN %@ AND b == %@ AND c == %@",
      [
        uuid, date, Data([0, 255]), URL(string: "https://a.example/b?c") as Any, Decimal(string: "0.10") as Any, -0.0,
        true,
      ],
      0.1, Int64.min)
    #expect(try copy(predicate)?.parsedNode == predicate.parsedNode)
  }

  @Test("an expression is read as an equal one")
  func expressions() throws {
    let condition = NSPredicate(format: "$x.price > 3")
    let items = NSExpression(forKeyPath: "items")
    let all = [
      NSExpression(forConstantValue: 7.5), NSExpression(forConstantValue: nil), NSExpression(forVariable: "x"), items,
      NSExpression.expressionForEvaluatedObject(), NSExpression(forFunction: "sum:", arguments: [items]),
      NSExpression(forAggregate: [items, NSExpression(forConstantValue: UUID())]),
      NSExpression(forUnionSet: items, with: items),
      NSExpression(forSubquery: items, usingIteratorVariable: "x", predicate: condition),
      NSExpression(forConditional: condition, trueExpression: items, falseExpression: NSExpression(forVariable: "y")),
    ]
    for expression in all {
      let data = try archive(expression)
      let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSExpression.self, from: data))
      #expect(read == expression && read.expressionType == expression.expressionType)
    }
  }

  @Test("what can't be archived is an error that says why")
  func refusals() throws {
    let block = NSExpression(block: { _, _, _ in 1 }, arguments: nil)
    let object = NSExpression(forAggregate: [NSExpression(forConstantValue: NSObject())])
    let lists = (0..<8).reduce([1] as [Any]) { list, _ in [list] }
    #expect(throws: NSError.self) { try TreeArchive(NSExpression(forConstantValue: lists).tree) }
    #expect(throws: Never.self) { try TreeArchive(NSExpression(forConstantValue: lists[0]).tree) }
    for (expression, reason) in [(block, "made from a block"), (object, "with a variable such as $object")] {
      let error = #expect(throws: NSError.self) { try TreeArchive(expression.tree) }
      #expect(error?.localizedDescription.contains(reason) == true)
    }
    let deep = (0..<60).reduce(PredicateNode.constant(true)) { node, _ in .not(node) }
    let error = #expect(throws: NSError.self) { try TreeArchive(deep) }
    #expect(error?.localizedDescription.contains("no format repeats it") == true)
  }

  @Test("an archive with other texts or values than this library writes is read as nothing")
  func damaged() throws {
    func node(_ text: String, _ values: [Any], prefix: String? = "value") throws -> PredicateNode? {
      let archiver = NSKeyedArchiver(requiringSecureCoding: true)
      archiver.encode(NSString(string: text), forKey: "OCDFormat")
      if let prefix { archiver.encode(NSString(string: prefix), forKey: "OCDVariablePrefix") }
      archiver.encode(NSArray(array: values), forKey: "OCDValues")
      archiver.finishEncoding()
      let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
      unarchiver.decodingFailurePolicy = .setErrorAndReturn
      return TreeArchive(coder: unarchiver)?.node
    }
    func list(_ parts: Any...) -> NSArray { NSArray(array: parts) }
    let real = list(NSString("real"), NSString("3ff8000000000000"))
    #expect(try node("a == $value0", [real])?.formatDescription == "a == 1.5")
    for (text, values): (String, [Any]) in [
      ("a ==", []), ("a == $value0", [list(NSString("real"), NSString("x"))]), ("a == $value0", [NSString("x")]),
      ("a == $value0", [list(NSString("real"))]), ("a == $value0", [list(NSString("list"), list(NSString("x")))]),
      ("a == $value0", [list(NSString("uuid"), NSString("no"))]),
      ("a == $value0", [list(NSString("decimal"), NSString("no"))]),
      (String(repeating: "(", count: 100_000) + "a == 1", []),
    ] {
      #expect(try node(text, values) == nil, "\(text.prefix(40)) \(values)")
    }
    #expect(try node("a == $value0", [real], prefix: nil) == nil)
    var nested = list(NSString("list"), NSArray())
    for depth in 2...10 {
      nested = list(NSString("list"), list(nested))
      #expect(try (node("a IN $value0", [nested]) == nil) == (depth > 9), "\(depth) lists")
    }
  }
}
