import Foundation
import OpenCoreData
import SurfJournal
import Testing

/// The examples in the documentation comments of expressions, compiled and run. Each function has the name of the
/// declaration whose example it contains.
@Suite("Examples in documentation comments: expressions")
struct DocExamplesExpressions {
  @Test func nsExpression() {
    let amount = NSExpression(forKeyPath: "amount")
    let total = NSExpression(forFunction: "sum:", arguments: [amount])
    #expect(total.expressionValue(with: ["amount": 3], context: nil) as? Int == 3)
  }

  @Test func nsComparisonPredicate() {
    let rating = NSExpression(forKeyPath: "rating")
    let four = NSExpression(forConstantValue: 4)
    let predicate = NSComparisonPredicate(
      leftExpression: rating, rightExpression: four, modifier: .direct, type: .greaterThanOrEqualTo)
    #expect(predicate.evaluate(with: ["rating": 5]) && !predicate.evaluate(with: ["rating": 3]))
  }

  @Test func nsExpressionDescription() throws {
    let best = NSExpressionDescription()
    best.name = "best"
    best.expression = NSExpression(forFunction: "max:", arguments: [NSExpression(forKeyPath: "rating")])
    best.resultType = .integer16
    let request = NSFetchRequest<NSDictionary>(entityName: "JournalEntry")
    request.resultType = .dictionaryResultType
    request.propertiesToGroupBy = ["location"]
    request.propertiesToFetch = ["location", best]
    request.sortDescriptors = [NSSortDescriptor(key: "location", ascending: true)]
    let container = NSPersistentContainer(name: "SurfJournalModel")
    container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
    container.loadPersistentStores { _, error in #expect(error == nil) }
    let context = container.newBackgroundContext()
    let rows = try context.performAndWait {
      for (location, rating) in [("Rincon", 2), ("Rincon", 3), ("Malibu", 1)] {
        let entry = JournalEntry(context: context)
        (entry.location, entry.rating) = (location, NSNumber(value: rating))
      }
      try context.save()
      return try context.fetch(request)
    }
    #expect(rows.map { $0["location"] as? String } == ["Malibu", "Rincon"])
    #expect(rows.map { $0["best"] as? Int } == [1, 3])
  }
}
