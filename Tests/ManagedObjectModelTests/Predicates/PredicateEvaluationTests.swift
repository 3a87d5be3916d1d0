import Foundation
import ModelTestSupport
import Testing

@testable import ManagedObjectModel

@Suite("Predicate evaluation: evaluate(with:) on objects, dictionaries and values")
struct PredicateEvaluationTests {
  static var session: [String: Any] {
    [
      "rating": 4, "name": "Pipe", "date": Date(timeIntervalSinceReferenceDate: 0), "isClean": true,
      "gone": NSNull(),
      "spot": ["name": "Banzai", "depth": 2.5] as [String: Any], "number": NSNumber(value: 4),
    ]
  }

  static let truths = [
    "rating == 4", "4 == rating", "rating > 3.5", "number == rating", "name == 'Pipe'", "name ==[c] 'pipe'",
    "name CONTAINS 'ip'", "name BEGINSWITH[c] 'p'", "name LIKE 'P?pe'", "name MATCHES '[A-Z].*'",
    "rating IN {1, 4}",
    "name IN {'a', 'Pipe'}", "rating BETWEEN {4, 5}", "gone == nil", "missing == nil", "missing != 3",
    "NOT missing < 3",
    "spot.name == 'Banzai'", "spot.depth > 2", "spot.missing == nil", "gone.name == nil",
    "missing.name == nil",
    "isClean == YES", "date == '2001-01-01'", "date < CAST(1, 'NSDate')", "name != 3", "NOT name == 3",
    "TRUEPREDICATE",
    "rating == '4'", "NOT (name IN {1, 2})", "SELF.rating == 4",
  ]

  @Test(arguments: truths) func truth(_ format: String) {
    let predicate = NSPredicate(format: format)
    #expect(predicate.evaluate(with: Self.session))
    #expect(predicate.evaluate(with: SurfSession(Self.session)))
    #expect(predicate.evaluate(with: NSDictionary(dictionary: Self.session)))
    #expect(!NSPredicate(format: "NOT (\(format))").evaluate(with: Self.session))
    #expect(NSCompoundPredicate(andPredicateWithSubpredicates: [predicate]).evaluate(with: Self.session))
  }

  @Test("SELF is the value itself, so arrays of plain values can be filtered")
  func plainValues() {
    let names = ["Pipe", "pipeline", "Teahupo'o"]
    let predicate = NSPredicate(format: "SELF CONTAINS[c] %@", "PIPE")
    #expect(names.filter { predicate.evaluate(with: $0) } == ["Pipe", "pipeline"])
    #expect([1, 2, 3].filter { NSPredicate(format: "SELF >= 2").evaluate(with: $0) } == [2, 3])
    #expect(NSPredicate(format: "SELF == nil").evaluate(with: nil))
    let filtered = NSArray(array: names).filtered(using: NSPredicate(format: "SELF ENDSWITH 'o'"))
    #expect(filtered.count == 1)
  }

  @Test("variables are bound while evaluating")
  func variables() {
    let predicate = NSPredicate(format: "rating == $R")
    #expect(predicate.evaluate(with: Self.session, substitutionVariables: ["R": 4]))
    #expect(!predicate.evaluate(with: Self.session, substitutionVariables: ["R": 5]))
  }

  @Test("what cannot be evaluated is an error that names it, not a false answer")
  func errors() throws {
    for format in ["unknown == 1", "name < 3", "rating == $X", "rating CONTAINS 'a'"] {
      let node = try PredicateParser.parse(format)
      #expect(throws: (any Error).self, "\(format)") { try node.evaluated(on: SurfSession(Self.session)) }
    }
    #expect { try PredicateParser.parse("a.b == 1").evaluated(on: 3) } throws: {
      ($0 as NSError).localizedDescription.contains("Int has no value for the key path 'a.b'")
    }
  }
}
