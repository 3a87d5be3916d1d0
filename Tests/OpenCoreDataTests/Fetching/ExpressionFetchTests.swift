import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData

// Foundation declares a class of this name that can't be created here.
private typealias NSExpression = ManagedObjectModel.NSExpression

// Rules (Apple documentation: NSExpressionDescription; NSFetchRequest, propertiesToFetch, propertiesToGroupBy,
// havingPredicate): an expression is computed of each object, or, with a function of many values, of all objects of a
// group; without groups, of all that the request finds.

@Suite("A fetch of dictionaries computes expressions", .overBothStores, .seeded)
struct ExpressionFetchTests {
  /// One store of the kind that the test runs on, or with it one of SQLite.
  enum Stores: CaseIterable { case one, two }

  // MARK: Agreement

  @Test("Plain Swift gives the same results", arguments: Stores.allCases, Randomness.seeds(2, long: 60))
  func agreement(stores: Stores, seed: UInt64) throws {
    let wrong = try disagreements(stores, seed: seed) { $0 }
    #expect(wrong.isEmpty, "seed \(seed): \(wrong.prefix(3).joined(separator: "\n"))")
  }

  @Test("A row that is missing in the results is noticed", arguments: Stores.allCases)
  func canary(stores: Stores) throws {
    #expect(try !disagreements(stores, seed: 5) { Array($0.dropLast()) }.isEmpty)
  }

  /// - Parameter change: Applied to what is expected.
  private func disagreements(
    _ stores: Stores, seed: UInt64, change: ([[PlainResult]]) -> [[PlainResult]]
  ) throws -> [String] {
    let graph = try WaveGraph(stores, seed: seed)
    var random = SeededGenerator(seed: seed ^ 0x5EED)
    var wrong: [String] = []
    for _ in 0..<120 {
      let question = WaveQuestion(&random)
      let expected = change(question.answer(graph.waves)).map { "\($0)" }.sorted()
      let found = try graph.context.performAndWait {
        try graph.context.fetch(question.request).map { row in "\(question.names.map { PlainResult(row[$0]) })" }
      }
      if found.sorted() != expected { wrong.append("\(question): \(found.sorted()), expected \(expected)") }
      let count = try graph.context.performAndWait { try graph.context.count(for: question.request) }
      if count != expected.count { wrong.append("\(question): counted \(count), expected \(expected.count)") }
    }
    return wrong
  }

  // MARK: Types

  private func value(
    _ format: String, _ type: NSAttributeDescription.AttributeType = .undefined, in graph: WaveGraph
  ) throws -> Any? {
    let description = NSExpressionDescription()
    description.name = "value"
    description.expression = NSExpression(format: format)
    description.resultType = type
    let request = WaveQuestion.dictionaries([description])
    return try graph.context.performAndWait { try graph.context.fetch(request).first?["value"] }
  }

  @Test("A result has the type of its expression, or the one that is set", arguments: Stores.allCases)
  func types(stores: Stores) throws {
    let graph = try WaveGraph(stores, seed: 1, count: 0)
    try graph.insert([("Reef", 3, 1.75, 2.5), ("Point", 4, 2, 3)])
    #expect(try value("sum(rating)", in: graph) as? Int == 7)
    #expect(try value("sum(price)", in: graph) as? NSDecimalNumber == NSDecimalNumber(string: "5.5"))
    #expect(try value("sum(price)", .double, in: graph) as? Double == 5.5)
    #expect(try value("average(rating)", in: graph) as? Double == 3.5)
    #expect(try value("average(rating)", .integer32, in: graph) as? Int == 3)
    #expect(try value("max(height)", .float, in: graph) as? Float == 2)
    #expect(try value("min(name)", .string, in: graph) as? String == "Point")
    #expect(try value("count(SELF)", .decimal, in: graph) as? NSDecimalNumber == 2)
    #expect(try value("now()", in: graph) is Date)
  }

  @Test("SELF is the object's identity, under any name", arguments: Stores.allCases)
  func identity(stores: Stores) throws {
    let graph = try WaveGraph(stores, seed: 1, count: 0)
    try graph.insert([("Reef", 3, 1.75, 2.5)])
    let description = NSExpressionDescription()
    description.name = "wave"
    description.expression = NSExpression.expressionForEvaluatedObject()
    description.resultType = .objectID
    let request = WaveQuestion.dictionaries([description, "name"])
    try graph.context.performAndWait {
      let row = try #require(try graph.context.fetch(request).first)
      let id = try #require(row["wave"] as? NSManagedObjectID)
      #expect(try graph.context.existingObject(with: id).value(forKey: "name") as? String == "Reef")
      #expect(row["name"] as? String == "Reef")
    }
  }

  @Test("Without any objects, a count and a sum are 0, and other results have no key", arguments: Stores.allCases)
  func nothing(stores: Stores) throws {
    let graph = try WaveGraph(stores, seed: 1, count: 0)
    #expect(try value("count(name)", in: graph) as? Int == 0)
    #expect(try value("sum(height)", in: graph) as? Double == 0)
    #expect(try value("max(height)", in: graph) == nil)
  }

  @Test("A group is chosen by a value of its own, which a variable names")
  func having() throws {
    let graph = try WaveGraph(.one, seed: 1, count: 0)
    try graph.insert([("Reef", 3, 1, 1), ("Reef", 4, 1, 1), ("Point", 5, 1, 1)])
    let total = PlainColumn.summaries[0].description("total")
    let request = WaveQuestion.dictionaries(["name", total])
    request.propertiesToGroupBy = ["name"]
    for having in [
      NSPredicate(format: "$total > 1"), NSPredicate(format: "%@ > 1", NSExpression(forVariable: "total")),
      NSPredicate(format: "count(SELF) > 1"), NSPredicate(format: "sum(rating) > 6"),
    ] {
      request.havingPredicate = having
      let rows = try graph.context.performAndWait { try graph.context.fetch(request) }
      #expect(rows.map { $0["name"] as? String } == ["Reef"] && rows.map { $0["total"] as? Int } == [2], "\(having)")
    }
  }

  @Test("A name does not make an attribute a group, nor a group an attribute")
  func names() throws {
    let graph = try WaveGraph(.one, seed: 1, count: 0)
    try graph.insert([("Reef", 2, 1, 1), ("Reef", 3, 1, 1), ("Point", 5, 1, 1)])
    let half = NSExpressionDescription()
    half.name = "rating"
    half.expression = NSExpression(format: "rating / 2")
    let request = WaveQuestion.dictionaries(["rating", PlainColumn.summaries[0].description("total")])
    request.propertiesToGroupBy = [half]
    func said() -> String { message { _ = try graph.context.performAndWait { try graph.context.fetch(request) } } }
    #expect(said().contains("rating is not among propertiesToGroupBy"))
    request.propertiesToFetch = [half, PlainColumn.summaries[0].description("total")]
    request.havingPredicate = NSPredicate(format: "rating >= 2")
    #expect(said().contains("rating is not among propertiesToGroupBy"))
    // The variable has the group's own value.
    request.havingPredicate = NSPredicate(format: "$rating < 2 AND $rating * 10 == 10")
    let rows = try graph.context.performAndWait { try graph.context.fetch(request) }
    #expect(rows.map { $0["rating"] as? Int } == [1] && rows.map { $0["total"] as? Int } == [2])
  }

  @Test("A group that is named twice is one", arguments: Stores.allCases)
  func namedTwice(stores: Stores) throws {
    let graph = try WaveGraph(stores, seed: 1, count: 0)
    try graph.insert([("Reef", 2, 1, 1), ("Reef", 2, 1, 1), ("Point", 5, 1, 1)])
    let next = PlainColumn.row("rating + 1") { PlainResult(number: Double(($0.rating ?? 0) + 1)) }.description("next")
    let request = WaveQuestion.dictionaries([next])
    request.propertiesToGroupBy = ["name", "name", "rating"]
    let rows = try graph.context.performAndWait { try graph.context.fetch(request) }
    #expect(rows.compactMap { $0["next"] as? Int }.sorted() == [3, 6])
  }

  @Test("Objects are groups of their own, in one store and in several", arguments: Stores.allCases)
  func groupsByIdentity(stores: Stores) throws {
    let graph = try WaveGraph(stores, seed: 1, count: 0)
    try graph.insert([("Reef", 2, 1, 1), ("Reef", 3, 1, 1), ("Reef", 5, 1, 1)])
    let request = WaveQuestion.dictionaries(["objectID", PlainColumn.summaries[4].description("total")])
    request.propertiesToGroupBy = ["objectID", "name"]
    let rows = try graph.context.performAndWait { try graph.context.fetch(request) }
    #expect(rows.compactMap { $0["total"] as? Int }.sorted() == [2, 3, 5])
    #expect(Set(rows.compactMap { $0["objectID"] as? NSManagedObjectID }).count == 3)
  }

  @Test(
    "A key path that looks like a part of an expression is refused", arguments: ["@rows.0", "@rows.-1", "@group.0"])
  func reserved(path: String) throws {
    let graph = try WaveGraph(.one, seed: 1, count: 0)
    let description = NSExpressionDescription()
    description.name = "value"
    description.expression = NSExpression(forKeyPath: path)
    let request = WaveQuestion.dictionaries([description])
    let said = message { _ = try graph.context.performAndWait { try graph.context.fetch(request) } }
    #expect(said.contains("it is not a key path"))
  }

  @Test("One statement groups, computes and chooses", .sqliteOnly("About the text of SQL"))
  func statement() throws {
    let stack = try Stack.filled(TemporaryFolder(), count: 4)
    let context = stack.context()
    let best = NSExpressionDescription()
    best.name = "best"
    best.expression = NSExpression(format: "max(rating) + 1")
    let sql = try Trace.of(stack) {
      _ = try context.performAndWait {
        try context.fetch(
          stack.dictionaries {
            $0.propertiesToFetch = ["place", best]
            $0.propertiesToGroupBy = ["place"]
            $0.havingPredicate = NSPredicate(format: "$best > 1")
          })
      }
    }
    #expect(
      sql == [
        "SELECT t0.ZPLACE, max(t0.ZRATING) + ? FROM ZSESSION t0 GROUP BY t0.ZPLACE "
          + "HAVING max(t0.ZRATING) + ? > ? ORDER BY t0.ZPLACE, 2"
      ])
  }

  @Test("What has no single value is refused, with the reason and what to do")
  func refusals() throws {
    let graph = try WaveGraph(.one, seed: 1, count: 0)
    func failure(
      _ format: String, _ type: NSAttributeDescription.AttributeType = .undefined, with other: [Any] = [],
      groups: [Any]? = nil
    ) -> String {
      let description = NSExpressionDescription()
      description.name = "value"
      description.expression = NSExpression(format: format)
      description.resultType = type
      let request = WaveQuestion.dictionaries([description] + other)
      request.propertiesToGroupBy = groups
      return message { _ = try graph.context.performAndWait { try graph.context.fetch(request) } }
    }
    #expect(failure("sum(rating)", with: ["name"]).contains("name has another value for each row, and value is one"))
    #expect(failure("rating + 1", groups: ["name"]).contains("rating is not among propertiesToGroupBy (name)"))
    #expect(
      failure("sum(name)").contains("'sum(name)' cannot be used: only numbers are put together, and name is text"))
    #expect(failure("sum(max(rating))").contains("'max(rating)' is of all rows, and a value of each row is needed"))
    #expect(failure("count(SELF)", with: [PlainColumn.tags]).contains("tags has another value for each row"))
    #expect(failure("tags.@count + count(SELF)").contains("tags has another value for each row"))
    #expect(failure("tags.@count", groups: ["name"]).contains("tags is not among propertiesToGroupBy (name)"))
    #expect(failure("max(spot)").contains("objects have no order"))
    #expect(failure("tags").contains("it has several values. Count them with @count"))
    #expect(failure("stars").contains("stars not found"))
    #expect(failure("length(name)", .string).contains("value gives an integer, and its resultType is text"))
    let summed = PlainColumn.summaries[0].description("total")
    #expect(failure("name", groups: [summed]).contains("is of all rows, and a value of each row is needed"))
  }
}

/// A question about waves: what is fetched, grouped by and required.
struct WaveQuestion: CustomStringConvertible {
  private let groups: [PlainColumn]
  private let columns: [PlainColumn]
  private let having: (text: String, holds: ([PlainWave]) -> Bool)?
  let request: NSFetchRequest<NSDictionary>

  static func dictionaries(_ properties: [Any]) -> NSFetchRequest<NSDictionary> {
    let request = NSFetchRequest<NSDictionary>(entityName: "Wave")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = properties
    return request
  }

  init(_ random: inout SeededGenerator) {
    func some(_ columns: [PlainColumn], _ range: ClosedRange<Int>) -> [PlainColumn] {
      Array(columns.shuffled(using: &random).prefix(Int.random(in: range, using: &random)))
    }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: (groups, columns) = ([], some(PlainColumn.plain, 1...3))
    case 1: (groups, columns) = ([], some(PlainColumn.summaries, 1...3))
    default:
      groups = some(PlainColumn.groups, 1...2)
      columns = groups + some(PlainColumn.summaries, 0...2)
    }
    let number = Int.random(in: 0...4, using: &random)
    switch (groups.isEmpty, Int.random(in: 0..<3, using: &random)) {
    case (false, 0): having = ("count(SELF) > \(number)", { $0.count > number })
    case (false, 1):
      having = ("sum(rating) <= \(number)", { $0.compactMap(\.rating).reduce(0, +) <= number })
    default: having = nil
    }
    request = Self.dictionaries(columns.enumerated().map { $1.property("column\($0)") })
    // The expressions of groups are those of the columns, which come first.
    request.propertiesToGroupBy = groups.isEmpty ? nil : groups.enumerated().map { $1.property("column\($0)") }
    request.havingPredicate = having.map { NSPredicate(format: $0.text) }
    request.returnsDistinctResults = groups.isEmpty && Bool.random(using: &random)
  }

  var names: [String] { columns.enumerated().map { $1.isAttribute ? $1.text : "column\($0)" } }

  var description: String {
    "\(columns.map(\.text)) by \(groups.map(\.text)) having \(having?.text ?? "-") distinct \(request.returnsDistinctResults)"
  }

  func answer(_ waves: [PlainWave]) -> [[PlainResult]] {
    var parts: [[PlainWave]]
    if !groups.isEmpty {
      parts = Array(Dictionary(grouping: waves) { wave in groups.map { $0.value([wave]) } }.values)
    } else {
      parts = columns.contains(where: \.isOfRows) ? [waves] : waves.map { [$0] }
    }
    if let having { parts = parts.filter(having.holds) }
    let rows = parts.map { part in columns.map { $0.value(part) } }
    return request.returnsDistinctResults ? Array(Set(rows)) : rows
  }
}

extension PlainColumn {
  fileprivate var isAttribute: Bool { ["name", "rating", "spot.name"].contains(text) }

  fileprivate func property(_ name: String) -> Any { isAttribute ? text : description(name) }
}

/// Random waves in stores and as plain values.
private final class WaveGraph {
  let folder: TemporaryFolder
  let context: NSManagedObjectContext
  private(set) var waves: [PlainWave] = []
  private let stores: [NSPersistentStore]

  init(_ stores: ExpressionFetchTests.Stores, seed: UInt64, count: Int = 60) throws {
    folder = try TemporaryFolder()
    let model = try NSManagedObjectModel.load(xml: Data(PlainWave.xml.utf8))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    for kind in stores == .two ? [StoreKind.current, .sqlite] : [.current] {
      switch kind {
      case .bruteForce: try coordinator.addPersistentStore(BruteForceStore(model: model))
      case .sqlite:
        let name = "\(coordinator.persistentStores.count).sqlite"
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file(name))
      case .server:
        try coordinator.addPersistentStore(
          ofType: NSPostgreSQLStoreType, configurationName: nil, at: try ServerStores.newAddress())
      }
    }
    self.stores = coordinator.persistentStores
    context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    var generator = SeededGenerator(seed: seed)
    try insert((0..<count).map { _ in PlainWave(&generator) })
  }

  func insert(_ waves: [(name: String, rating: Int, height: Double, price: Double)]) throws {
    var generator = SeededGenerator(seed: 1)
    try insert(
      waves.map { wave in
        var plain = PlainWave(&generator)
        (plain.name, plain.rating, plain.height, plain.price) = (wave.name, wave.rating, wave.height, wave.price)
        return plain
      })
  }

  private func insert(_ new: [PlainWave]) throws {
    waves += new
    try context.performAndWait {
      for (index, store) in stores.enumerated() {
        var spots: [String: NSManagedObject] = [:]
        for name in ["Rincon", "rincon", "Malibu"] {
          let spot = NSEntityDescription.insertNewObject(forEntityName: "Spot", into: context)
          context.assign(spot, to: store)
          spot.setValue(name, forKey: "name")
          spots[name] = spot
        }
        for (number, wave) in new.enumerated() where number % stores.count == index {
          wave.insert(into: context, spots, store)
        }
      }
      try context.save()
      context.reset()
    }
  }
}
