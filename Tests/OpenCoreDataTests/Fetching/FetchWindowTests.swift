import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSFetchRequest, fetchLimit, fetchOffset, includesSubentities, includesPendingChanges,
// entityName): a fetch is a window on all that the context shows, in the request's order, whether it is stored, pending
// here or pending in a parent; a count is the number of objects that the fetch returns.

@Suite("A fetch is a window on what its context shows", .overBothStores)
struct FetchWindowTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Sessions, of which some are of a subentity.
  private func familyModel() -> NSManagedObjectModel {
    let tow = NSEntityDescription()
    tow.name = "Tow"
    tow.properties = [Sessions.attribute("driver", .stringAttributeType)]
    let model = Sessions.model { session in
      session.properties += [Sessions.attribute("price", .decimalAttributeType)]
      session.subentities = [tow]
    }
    model.entities += [tow]
    return model
  }

  private func edit(
    _ context: NSManagedObjectContext, model: NSManagedObjectModel, random: inout SeededGenerator
  ) throws {
    let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Session"))
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      switch (Int.random(in: 0..<4, using: &random), all.randomElement(using: &random)) {
      case (0, let object?) where object.managedObjectContext != nil: context.delete(object)
      case (1...2, let object?) where object.managedObjectContext != nil && !object.isDeleted: set(object, &random)
      default:
        let entity = try #require(model.entitiesByName[Bool.random(using: &random) ? "Session" : "Tow"])
        set(NSManagedObject.make(entity, in: context), &random)
      }
    }
  }

  private func set(_ object: NSManagedObject, _ random: inout SeededGenerator) {
    let places = [nil, "", "a", "B", "b", "\u{E9}", "e\u{301}", "ab", "\u{1D49C}", "\u{FFFC}"]
    object.setValue(places.randomElement(using: &random) ?? nil, forKey: "place")
    object.setValue(Int.random(in: -2...2, using: &random), forKey: "rating")
    let dates: [Double?] = [nil, -1, 0, 0.5, 3]
    object.setValue(
      (dates.randomElement(using: &random) ?? nil).map(Date.init(timeIntervalSinceReferenceDate:)), forKey: "date")
    let prices: [String?] = [nil, "3.133", "0.1", "-7", "1234567.89"]
    let price: String? = prices.randomElement(using: &random) ?? nil
    object.setValue(price.map { NSDecimalNumber(string: $0) }, forKey: "price")
  }

  private func request(_ random: inout SeededGenerator) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(
      entityName: Int.random(in: 0..<4, using: &random) == 0 ? "Tow" : "Session")
    request.includesSubentities = Int.random(in: 0..<4, using: &random) > 0
    let predicates: [NSPredicate?] = [
      nil, NSPredicate(format: "rating > 0"), NSPredicate(format: "place == nil"), NSPredicate(format: "place >= 'a'"),
      NSPredicate(format: "price == %@", NSDecimalNumber(string: "3.133")), NSPredicate(format: "NOT (rating == 1)"),
      NSPredicate(format: "date < %@", Date(timeIntervalSinceReferenceDate: 0.5) as NSDate),
    ]
    request.predicate = predicates.randomElement(using: &random) ?? nil
    let keys = ["place", "rating", "date", "price"].shuffled(using: &random).prefix(
      Int.random(in: 1...4, using: &random))
    request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: Bool.random(using: &random)) }
    return request
  }

  @Test("Any window of any level is cut from the whole", .seeded, arguments: Randomness.seeds(6, long: 1000))
  func windows(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let model = familyModel()
    let stack = try Stack(folder, model: model)
    let chain = stack.chain()
    try chain.writer.performAndWait {
      for _ in 0..<3 { try edit(chain.writer, model: model, random: &random) }
      try chain.writer.save()
    }
    var windows = 0
    for _ in 0..<4 {
      for context in [chain.writer, chain.middle, chain.child] {
        try context.performAndWait { try edit(context, model: model, random: &random) }
      }
      let context = [chain.writer, chain.middle, chain.child][Int.random(in: 0..<3, using: &random)]
      try context.performAndWait {
        for _ in 0..<6 {
          try checkWindow(request(&random), in: context, random: &random)
          windows += 1
        }
        if Bool.random(using: &random) { try context.save() }
      }
    }
    #expect(windows == 24)
  }

  private func checkWindow(
    _ request: NSFetchRequest<NSManagedObject>, in context: NSManagedObjectContext, random: inout SeededGenerator
  ) throws {
    let everything = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Session"))
    let members = everything.filter { object in
      (request.entityName == "Session"
        ? request.includesSubentities || object.entity.name == "Session" : object.entity.name == "Tow")
        && request.predicate?.evaluate(with: object) ?? true
    }
    let whole = try context.fetch(request)
    #expect(Set(whole) == Set(members) && whole.count == members.count)
    let sorted = try query(request, context).sortKeys
    for (left, right) in zip(whole, whole.dropFirst()) {
      let order = try sorted.compare(
        left: { try left.storedValue(at: AttributePath($0.keyPath, of: left.entity)) },
        right: { try right.storedValue(at: AttributePath($0.keyPath, of: right.entity)) })
      #expect(order != .orderedDescending)
    }
    request.fetchLimit = Int.random(in: 0...4, using: &random)
    request.fetchOffset = Int.random(in: 0...3, using: &random)
    request.fetchBatchSize = Int.random(in: 0...2, using: &random)
    let rest = whole.dropFirst(request.fetchOffset)
    let expected = Array(request.fetchLimit > 0 ? rest.prefix(request.fetchLimit) : rest)
    #expect(try context.fetch(request) == expected)
    #expect(try context.count(for: request) == expected.count)
    var walked: [NSManagedObjectID] = []
    try context.walk(request, rowsPerBatch: 2) { _, ids in
      walked += Array(ids)
      return true
    }
    #expect(walked == expected.map(\.objectID))
    let ids = request.retyped(as: NSManagedObjectID.self)
    ids.resultType = .managedObjectIDResultType
    #expect(try context.fetch(ids) == expected.map(\.objectID))
  }

  private func query(
    _ request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext
  ) throws -> FetchQuery { try request.query(model: context.model) }

  @Test("A limit beyond any number is none", arguments: [0, 1])
  func hugeLimit(offset: Int) throws {
    let stack = try Stack.filled(folder, count: 2)
    try stack.coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = stack.context()
    try context.performAndWait {
      let request = stack.request()
      request.fetchLimit = .max
      request.fetchOffset = offset
      let stored = try context.fetch(request).count
      InsertionWay.single.insert(5..<6, into: context, stack.entity)
      let (fetched, counted) = (try context.fetch(request).count, try context.count(for: request))
      #expect(stored == 2 - offset && fetched == 3 - offset && counted == 3 - offset)
    }
  }

  @Test("A request that was given an entity names it")
  func entityName() throws {
    let model = Sessions.model()
    let request = NSFetchRequest<NSManagedObject>()
    request.entity = model.entitiesByName["Session"]
    #expect(request.entityName == "Session")
  }

  @Test(
    "A decimal comes back as it was set, written anew or changed, fetched or walked",
    arguments: [
      "3.133", "0.1", "-19.99", "1234567.89", "0.000001", "99999999999.5", "8.6", "4.35", "1.005",
    ])
  func decimals(text: String) throws {
    let model = familyModel()
    let stack = try Stack(folder, model: model)
    let context = stack.context()
    try context.performAndWait {
      let price = NSDecimalNumber(string: text)
      let inserted = NSManagedObject.make(stack.entity, in: context)
      inserted.setValue(price, forKey: "price")
      let changed = NSManagedObject.make(stack.entity, in: context)
      try context.save()
      changed.setValue(price, forKey: "price")
      try context.save()
      context.reset()
      let request = stack.request()
      let prices = try context.fetch(request).map { $0.value(forKey: "price") as? NSDecimalNumber }
      #expect(prices == [price, price])
      request.predicate = NSPredicate(format: "price == %@", price)
      let count = try context.count(for: request)
      #expect(count == 2)
    }
    let distinct = try stack.sqlite("SELECT count(DISTINCT ZPRICE), max(ZPRICE) = \(text) FROM ZSESSION")
    #expect(distinct == "1|1")
  }
}
