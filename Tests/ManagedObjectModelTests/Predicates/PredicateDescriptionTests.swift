import Foundation
import Testing

// Rule (Apple documentation: NSPredicate, predicateFormat): the description of a predicate is its format.

@Suite("Predicates describe themselves by their format")
struct PredicateDescriptionTests {
  @Test(
    "Description and interpolation are the format",
    arguments: ["x == 10 AND y == 30", "a == nil", "TRUEPREDICATE", "n IN {1, 2}"])
  func text(format: String) {
    let predicate = NSPredicate(format: format)
    #expect(predicate.description == format && "\(predicate)" == format)
    #expect(NSPredicate(format: predicate.description) == predicate)
  }

  @Test("Values are in the text as another predicate can read them")
  func values() {
    let predicate = NSPredicate(format: "%K == %@ AND n > %d", "a", "it's", 3)
    #expect(predicate.description == "a == \"it's\" AND n > 3")
    #expect(NSPredicate(format: predicate.description) == predicate)
  }

  @Test("A compound of two has both in its format")
  func compound() {
    let parts = [NSPredicate(format: "x == 10"), NSPredicate(format: "y == 30")]
    #expect(NSCompoundPredicate(andPredicateWithSubpredicates: parts).formatDescription == "x == 10 AND y == 30")
    #expect(NSCompoundPredicate(orPredicateWithSubpredicates: parts).formatDescription == "x == 10 OR y == 30")
    #expect(NSCompoundPredicate(notPredicateWithSubpredicate: parts[0]).formatDescription == "NOT x == 10")
  }
}
