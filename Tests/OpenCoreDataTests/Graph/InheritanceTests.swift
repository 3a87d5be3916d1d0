import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (docs/coredata-format.md, "Tables and columns"; Apple documentation: NSFetchRequest, includesSubentities):
// entities of one tree share a table and a sequence of keys, in the order of insertion; a fetch of an entity includes
// the objects of its subentities by default, pending or stored.

@Suite("Entities that inherit share a table, keys and fetches", .overBothStores)
struct InheritanceTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  private let entities: [String: NSEntityDescription]

  init() throws {
    folder = try TemporaryFolder()
    func entity(_ name: String, _ attributes: [NSAttributeDescription]) -> NSEntityDescription {
      let entity = NSEntityDescription()
      entity.name = name
      entity.properties = attributes
      return entity
    }
    let session = entity("Session", [Sessions.attribute("place", .stringAttributeType)])
    session.isAbstract = true
    let surf = entity("Surf", [Sessions.attribute("height", .doubleAttributeType)])
    let tow = entity("TowSurf", [Sessions.attribute("driver", .stringAttributeType)])
    let swim = entity("Swim", [Sessions.attribute("lengths", .integer32AttributeType)])
    surf.subentities = [tow]
    session.subentities = [surf, swim]
    let spot = entity("Spot", [Sessions.attribute("name", .stringAttributeType)])
    let model = NSManagedObjectModel()
    model.entities = [session, surf, tow, swim, spot]
    stack = try Stack(folder, model: model)
    entities = model.entitiesByName
  }

  private func make(_ name: String, _ values: [String: Any], in context: NSManagedObjectContext) {
    let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
    for (key, value) in values { object.setValue(value, forKey: key) }
  }

  private func fill(_ context: NSManagedObjectContext) {
    for number in 0..<3 {
      make("Surf", ["place": "s\(number)", "height": Double(number)], in: context)
      make("Spot", ["name": "spot \(number)"], in: context)
      make("Swim", ["place": "w\(number)", "lengths": number], in: context)
      make("TowSurf", ["place": "t\(number)", "height": 9.5, "driver": "Ann"], in: context)
    }
  }

  private func places(_ name: String, _ context: NSManagedObjectContext, subentities: Bool = true) throws -> [String] {
    let request = NSFetchRequest<NSManagedObject>(entityName: name)
    request.includesSubentities = subentities
    return try context.fetch(request).compactMap { $0.value(forKey: "place") as? String }
  }

  @Test(
    "A predicate with OR keeps to the entity of its request", arguments: ["Swim", "Surf", "TowSurf"], [false, true])
  func alternatives(name: String, includesSubentities: Bool) throws {
    let context = stack.context()
    try context.performAndWait {
      fill(context)
      try context.save()
      let letters = ["Swim": ["w"], "Surf": includesSubentities ? ["s", "t"] : ["s"], "TowSurf": ["t"]][name] ?? []
      let expected = Set(letters.flatMap { ["\($0)0", "\($0)2"] })
      let format = "place ENDSWITH '0' OR place ENDSWITH '2'"
      let request = NSFetchRequest<NSManagedObject>(entityName: name)
      request.predicate = NSPredicate(format: format)
      request.includesSubentities = includesSubentities
      #expect(Set(try context.fetch(request).compactMap(\.place)) == expected)
      #expect(try context.count(for: request) == expected.count)
      let dictionaries = NSFetchRequest<NSDictionary>(entityName: name)
      dictionaries.resultType = .dictionaryResultType
      dictionaries.predicate = request.predicate
      dictionaries.includesSubentities = includesSubentities
      dictionaries.propertiesToFetch = ["place"]
      #expect(Set(try context.fetch(dictionaries).compactMap { $0["place"] as? String }) == expected)
      let update = NSBatchUpdateRequest(entityName: name)
      update.predicate = request.predicate
      update.includesSubentities = includesSubentities
      update.propertiesToUpdate = ["place": "changed 0"]
      update.resultType = .updatedObjectsCountResultType
      #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == expected.count)
      let deletion = NSBatchDeleteRequest(fetchRequest: request)
      deletion.resultType = .resultTypeCount
      #expect((try context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int == expected.count)
      let rest = NSFetchRequest<NSManagedObject>(entityName: "Session")
      #expect(try context.count(for: rest) == 9 - expected.count)
    }
  }

  @Test("Keys follow the order of insertion across the tree, and other entities have their own")
  func keys() throws {
    let context = stack.context()
    try context.performAndWait {
      fill(context)
      try context.save()
    }
    #expect(
      try stack.sqlite(
        "SELECT Z_PK, Z_ENT, ZPLACE FROM ZSESSION; SELECT Z_PK, ZNAME FROM ZSPOT; SELECT * FROM Z_PRIMARYKEY")
          == """
          1|2|s0
          2|4|w0
          3|3|t0
          4|2|s1
          5|4|w1
          6|3|t1
          7|2|s2
          8|4|w2
          9|3|t2
          1|spot 0
          2|spot 1
          3|spot 2
          1|Session|0|9
          2|Surf|1|0
          3|TowSurf|2|0
          4|Swim|1|0
          5|Spot|0|3
          """)
  }

  @Test("A fetch finds the subentities' objects too, pending in a parent, in the context or stored")
  func fetching() throws {
    let writer = stack.context()
    let child = stack.context(writer)
    let all = ["s0", "w0", "t0", "s1", "w1", "t1", "s2", "w2", "t2"]
    func check(_ context: NSManagedObjectContext) throws {
      try context.performAndWait {
        // Pending objects come entity by entity where they were inserted in turn.
        let found = try places("Session", context)
        #expect(found.sorted() == all.sorted())
        #expect(try places("Surf", context).sorted() == ["s0", "s1", "s2", "t0", "t1", "t2"])
        #expect(try places("Surf", context, subentities: false).sorted() == ["s0", "s1", "s2"])
        #expect(try places("TowSurf", context).sorted() == ["t0", "t1", "t2"])
        #expect(try places("Session", context, subentities: false).isEmpty)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Surf")
        request.predicate = NSPredicate(format: "height > 1")
        #expect(try context.count(for: request) == 4)
        let tow = try #require(try context.fetch(request).first { $0.entity.name == "TowSurf" })
        #expect(tow.value(forKey: "driver") as? String == "Ann")
      }
    }
    child.performAndWait { fill(child) }
    try check(child)
    try child.performAndWait { try child.save() }
    try check(writer)
    try check(child)
    try writer.performAndWait { try writer.save() }
    for context in [writer, child, stack.context()] { try check(context) }
    #expect(try writer.performAndWait { try places("Session", writer) } == all)
  }

  @Test("A predicate on a subentity's attribute is refused where the entity lacks it")
  func foreignAttribute() throws {
    let context = stack.context()
    context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
      request.predicate = NSPredicate(format: "driver == 'Ann'")
      let error = #expect(throws: NSError.self) { try context.fetch(request) }
      #expect(error?.localizedDescription.contains("driver not found in entity Session") == true)
    }
  }

  @Test("A walk over a family gives batches of one entity each")
  func walking() throws {
    let context = stack.context()
    try context.performAndWait {
      fill(context)
      try context.save()
      var seen: [String] = []
      try context.walk(NSFetchRequest<NSManagedObject>(entityName: "Session"), rowsPerBatch: 2) { batch, ids in
        #expect(Set(ids.map(\.entity)) == [batch.entity] && ids.count == batch.count)
        let place = try #require(batch.entity.slot(named: "place"))
        for row in 0..<batch.count {
          if case .text(let text) = batch.value(row: row, slot: place) { seen.append(text) }
        }
        return true
      }
      #expect(seen == ["s0", "w0", "t0", "s1", "w1", "t1", "s2", "w2", "t2"])
    }
  }

  @Test("An object of a subentity is changed and deleted in its tree's table")
  func changing() throws {
    let context = stack.context()
    try context.performAndWait {
      fill(context)
      try context.save()
      let tows = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "TowSurf"))
      tows[0].setValue("Bob", forKey: "driver")
      tows[0].setValue("moved", forKey: "place")
      context.delete(tows[1])
      try context.save()
    }
    #expect(
      try stack.sqlite("SELECT Z_PK, Z_OPT, ZPLACE, ZDRIVER FROM ZSESSION WHERE Z_ENT = 3")
        == "3|2|moved|Bob\n9|1|t2|Ann")
  }
}
