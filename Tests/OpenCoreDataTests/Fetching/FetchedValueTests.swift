import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData

// Foundation declares classes of these names that can't be created here.
private typealias NSExpression = ManagedObjectModel.NSExpression
private typealias NSComparisonPredicate = ManagedObjectModel.NSComparisonPredicate

// Rules (Apple documentation: NSFetchRequestExpression; Predicate Format String Syntax, FETCH): the expression has the
// results of its request, or their number. A request for dictionaries stands for the values of its property, as a
// sub-select does.

@Suite("A predicate takes what another fetch finds", .overBothStores)
struct FetchedValueTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  private let context: NSManagedObjectContext

  /// Sessions at Spot 0 to Spot 9, with the ratings 1, 2, 3, 4, 5, 1, …
  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack.filled(folder, count: 10)
    context = stack.context()
  }

  private func request(_ format: String, _ arguments: Any?...) -> NSFetchRequest<NSFetchRequestResult> {
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Session")
    request.predicate = NSPredicate(format: format, argumentArray: arguments.compactMap(\.self))
    return request
  }

  private func expression(
    _ request: NSFetchRequest<NSFetchRequestResult>, countOnly: Bool = false
  ) -> NSExpression {
    NSFetchRequestExpression.expression(
      forFetch: NSExpression(forConstantValue: request), context: NSExpression(forConstantValue: context),
      countOnly: countOnly)
  }

  private func places(_ format: String, _ arguments: Any?...) throws -> [String] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
    request.predicate = NSPredicate(format: format, argumentArray: arguments.compactMap(\.self))
    request.sortDescriptors = [NSSortDescriptor(key: "place", ascending: true)]
    return try context.performAndWait {
      #expect(try context.count(for: request) == context.fetch(request).count)
      return try context.fetch(request).compactMap { $0.value(forKey: "place") as? String }
    }
  }

  @Test("Objects and their IDs, also those of unsaved changes", arguments: [false, true])
  func objects(asIDs: Bool) throws {
    let best = request("rating == 5")
    if asIDs { best.resultType = .managedObjectIDResultType }
    #expect(try places("SELF IN %@", expression(best)) == ["Spot 4", "Spot 9"])
    #expect(try places("NOT SELF IN %@", expression(best)).count == 8)
    #expect(try places("rating == 1 OR SELF IN %@", expression(best)) == ["Spot 0", "Spot 4", "Spot 5", "Spot 9"])
    let first = NSFetchRequest<NSManagedObject>(entityName: "Session")
    first.predicate = NSPredicate(format: "place == 'Spot 0'")
    try context.performAndWait { try context.fetch(first).first?.setValue(5, forKey: "rating") }
    #expect(try places("SELF IN %@", expression(best)) == ["Spot 0", "Spot 4", "Spot 9"])
  }

  @Test("Values of the only property of dictionaries")
  func values() throws {
    let ratings = request("place IN {'Spot 1', 'Spot 3'}")
    ratings.resultType = .dictionaryResultType
    ratings.propertiesToFetch = ["rating"]
    #expect(try places("rating IN %@", expression(ratings)) == ["Spot 1", "Spot 3", "Spot 6", "Spot 8"])
    let highest = NSExpressionDescription()
    highest.name = "highest"
    highest.expression = NSExpression(format: "max(rating)")
    ratings.propertiesToFetch = [highest]
    #expect(try places("rating IN %@", expression(ratings)) == ["Spot 3", "Spot 8"])
    ratings.propertiesToFetch = ["objectID"]
    #expect(try places("SELF IN %@", expression(ratings)) == ["Spot 1", "Spot 3"])
  }

  @Test("The number of objects, and the same in a format")
  func numbers() throws {
    #expect(try places("rating == %@", expression(request("rating == 5"), countOnly: true)) == ["Spot 1", "Spot 6"])
    #expect(try places("rating == FETCH(%@, %@, YES)", request("rating == 5"), context) == ["Spot 1", "Spot 6"])
    #expect(try places("SELF IN FETCH(%@, %@, NO)", request("rating == 5"), context) == ["Spot 4", "Spot 9"])
  }

  @Test("A deletion of many rows, and single objects, take it too")
  func otherUses() throws {
    let best = NSPredicate(format: "SELF IN %@", expression(request("rating == 5")))
    try context.performAndWait {
      let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Session"))
      #expect(all.filter { best.evaluate(with: $0) }.count == 2)
      let found = NSFetchRequest<NSFetchRequestResult>(entityName: "Session")
      found.predicate = best
      let deletion = NSBatchDeleteRequest(fetchRequest: found)
      deletion.resultType = .resultTypeCount
      #expect((try context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int == 2)
    }
    #expect(try places("SELF IN %@", expression(request("rating == 5"))) == [])
  }

  @Test("What is not one value of each result, and what is not a request, is refused with advice")
  func refusals() throws {
    let pairs = request("rating == 5")
    pairs.resultType = .dictionaryResultType
    pairs.propertiesToFetch = ["rating", "place"]
    #expect(message { _ = try places("rating IN %@", expression(pairs)) }.contains("Set propertiesToFetch to it."))
    #expect(message { _ = try places("SELF IN FETCH(rating, %@, NO)", context) }.contains("needs a fetch request"))
    let wrong = request("waves == 5")
    #expect(message { _ = try places("SELF IN %@", expression(wrong)) }.contains("keypath waves not found"))
  }

  @Test("It is taken apart, alone and from a predicate")
  func parts() throws {
    let best = request("rating == 5")
    let whole = try #require(expression(best, countOnly: true) as? NSFetchRequestExpression)
    let kept = whole.requestExpression.constantValue as? NSFetchRequest<NSFetchRequestResult>
    #expect(kept?.entityName == "Session" && kept?.predicate == best.predicate)
    #expect(whole.contextExpression.constantValue as? NSManagedObjectContext === context)
    #expect(whole.isCountOnlyRequest && whole.expressionType == NSFetchRequestExpressionType)
    let comparison = try #require(NSPredicate(format: "rating == %@", whole) as? NSComparisonPredicate)
    #expect(comparison.rightExpression as? NSFetchRequestExpression == whole)
    #expect(!(try #require(expression(best) as? NSFetchRequestExpression)).isCountOnlyRequest)
    #expect(expression(best) != expression(request("rating == 5")), "another request")
  }
}
