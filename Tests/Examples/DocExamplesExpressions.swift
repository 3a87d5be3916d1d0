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

  @Test func initForKeyPath() {
    let oldest = NSExpression(forFunction: "min:", arguments: [NSExpression(forKeyPath: \JournalEntry.date)])
    #expect(oldest.description == "min(date)")
  }

  @Test func formatDescription() {
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [
      NSPredicate(format: "rating >= 4"), NSPredicate(format: "location == 'Rincon'"),
    ])
    print(both.formatDescription)
    #expect(both.formatDescription == "rating >= 4 AND location == \"Rincon\"")
  }

  @Test func nsFetchRequestExpression() throws {
    let container = NSPersistentContainer(name: "SurfJournalModel")
    container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
    container.loadPersistentStores { _, error in #expect(error == nil) }
    let context = container.newBackgroundContext()
    try context.performAndWait {
      for (location, rating) in [("Rincon", 5), ("Rincon", 3), ("Malibu", 1)] {
        let entry = JournalEntry(context: context)
        (entry.location, entry.rating) = (location, NSNumber(value: rating))
      }
      try context.save()
      let request = NSFetchRequest<JournalEntry>(entityName: "JournalEntry")
      let best = NSFetchRequest<NSFetchRequestResult>(entityName: "JournalEntry")
      best.predicate = NSPredicate(format: "rating == 5")
      best.resultType = .dictionaryResultType
      best.propertiesToFetch = ["location"]
      let places = NSFetchRequestExpression.expression(
        forFetch: NSExpression(forConstantValue: best), context: NSExpression(forConstantValue: context),
        countOnly: false)
      request.predicate = NSPredicate(format: "location IN %@", places)
      #expect(try context.fetch(request).compactMap(\.rating?.intValue).sorted() == [3, 5])
    }
  }

  @Test func nsDerivedAttributeDescription() {
    let attribute = NSDerivedAttributeDescription()
    attribute.derivationExpression = NSExpression(format: "entries.@count")
    #expect(attribute.derivationExpressionFormat == "entries.@count")
    attribute.derivationExpression = NSExpression(format: "canonical(name)")
    #expect(attribute.derivationExpressionFormat == "canonical:(name)" && attribute.derivationExpression != nil)
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

  @Test func typedPredicate() throws {
    let container = NSPersistentContainer(name: "SurfJournalModel")
    container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
    container.loadPersistentStores { _, error in #expect(error == nil) }
    let context = container.newBackgroundContext()
    try context.performAndWait {
      for location in ["Rincon", "Malibu", nil] { JournalEntry(context: context).location = location }
      try context.save()
      let request = NSFetchRequest<JournalEntry>(entityName: "JournalEntry")
      request.predicate = NSPredicate(#Predicate<JournalEntry> { $0.location == "Rincon" })
      #expect(try context.fetch(request).map(\.location) == ["Rincon"])
      request.predicate = NSPredicate(#Predicate<JournalEntry> { ($0.location ?? "none") != "Malibu" })
      request.sortDescriptors = [NSSortDescriptor(SortDescriptor(\JournalEntry.location))]
      #expect(try context.fetch(request).map(\.location) == [nil, "Rincon"])
    }
  }

  @Test func nsFetchedPropertyDescription() throws {
    let nearby = NSFetchedPropertyDescription()
    nearby.name = "nearby"
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Session")
    request.predicate = NSPredicate(format: "beach == $FETCH_SOURCE.beach AND SELF != $FETCH_SOURCE")
    nearby.fetchRequest = request
    let (session, beach, model) = (NSEntityDescription(), NSAttributeDescription(), NSManagedObjectModel())
    (session.name, beach.name, beach.attributeType) = ("Session", "beach", .stringAttributeType)
    session.properties = [beach, nearby]
    model.entities = [session]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.performAndWait {
      let sessions = ["Rincon", "Malibu", "Rincon"].map { beach in
        let made = NSManagedObject(entity: session, insertInto: context)
        made.setValue(beach, forKey: "beach")
        return made
      }
      #expect(sessions[0].value(forKey: "nearby") as? [NSManagedObject] == [sessions[2]])
    }
  }
}
