import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rule (RowStore): what a context shows of relationships does not depend on the store. Random changes, saves, batch
// deletions and fetches over relationships run on a graph in SQLite and on one in a store that shares no code with it.

@Suite("Two stores that share no code agree about relationships", .seeded)
struct LinkedAgreementTests {
  private static let stepCount = 80

  /// A step of a sequence, with numbers that choose among the objects.
  private enum Step {
    case insert(entity: String)
    case link(from: Int, String, to: Int)
    case add(from: Int, String, to: Int)
    case removeAll(from: Int, String)
    case delete(Int)
    case save
    case rollBack
    case batchDelete(entity: String, above: Int)
    case fetch(entity: String, format: String, Int, sort: String?)
    case dictionaries(Int)

    static func random(_ random: inout SeededGenerator) -> Step {
      func number() -> Int { Int.random(in: 0..<1000, using: &random) }
      func one(of names: [String]) -> String { names[number() % names.count] }
      switch Int.random(in: 0..<100, using: &random) {
      case ..<18: return .insert(entity: one(of: ["Node", "Leaf", "Box", "Tag"]))
      case ..<34: return .link(from: number(), one(of: ["box", "parent", "partner", "note"]), to: number())
      case ..<46: return .add(from: number(), one(of: ["children", "friends", "tags", "rankings"]), to: number())
      case ..<50:
        return .removeAll(from: number(), one(of: ["children", "friends", "tags", "items", "nodes", "ranked"]))
      case ..<54: return .delete(number())
      case ..<66: return .save
      case ..<69: return .rollBack
      case ..<76: return .batchDelete(entity: one(of: ["Node", "Leaf", "Box", "Tag"]), above: number() % 40)
      case ..<94: return .fetch(entity: "Node", format: one(of: formats), number() % 40, sort: one(of: sorts))
      default: return .dictionaries(number() % 40)
      }
    }

    private static let formats = [
      "parent.number > %d", "parent.box.number < %d", "box == nil OR number > %d", "partner.number != %d",
      "ANY tags.number > %d", "NONE friends.number > %d", "ALL children.number < %d", "children.@count < %d",
      "SUBQUERY(rankings, $t, $t.number > %d).@count > 0", "note.number == %d OR parent != nil",
      "parent.partner.number > %d",
    ]
    private static let sorts = ["number", "parent.number", "box.number"]
  }

  /// One stack that takes steps.
  private struct Player {
    let graph: LinkedGraph
    let context: NSManagedObjectContext

    init(_ kind: StoreKind) throws {
      graph = try LinkedGraph(kind: kind)
      context = graph.context()
    }

    func take(_ step: Step, number: Int) -> String {
      context.performAndWait {
        do {
          return try answer(step, number: number)
        } catch let error as NSError {
          return "error \(error.code)"
        }
      }
    }

    private func answer(_ step: Step, number: Int) throws -> String {
      switch step {
      case .insert(let entity): LinkedGraph.make(entity, number, in: context)
      case .link(let from, let key, let to):
        guard let object = try pick("Node", from),
          let other = try pick(key == "box" ? "Box" : key == "note" ? "Tag" : "Node", to)
        else { return "nothing" }
        object.setValue(to.isMultiple(of: 5) ? nil : other, forKey: key)
      case .add(let from, let key, let to):
        let isTag = ["tags", "rankings"].contains(key)
        guard let object = try pick("Node", from), let other = try pick(isTag ? "Tag" : "Node", to) else {
          return "nothing"
        }
        object.mutableSetValue(forKey: key).add(other)
      case .removeAll(let from, let key):
        let entity = key == "items" ? "Box" : ["nodes", "ranked"].contains(key) ? "Tag" : "Node"
        guard let object = try pick(entity, from) else { return "nothing" }
        object.setValue(nil, forKey: key)
      case .delete(let place):
        guard let object = try pick(["Node", "Box", "Tag"][place % 3], place) else { return "nothing" }
        context.delete(object)
      case .save: try context.save()
      case .rollBack: context.rollback()
      case .batchDelete(let entity, let above):
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: entity)
        request.predicate = NSPredicate(format: "number > %d", above)
        let deletion = NSBatchDeleteRequest(fetchRequest: request)
        deletion.resultType = .resultTypeCount
        let result = try context.execute(deletion) as? NSBatchDeleteResult
        context.reset()
        return "\(result?.result ?? "none")"
      case .fetch(let entity, let format, let value, let sort):
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: format, argumentArray: [value])
        request.sortDescriptors = [sort, "number"].compactMap { $0.map { NSSortDescriptor(key: $0, ascending: true) } }
        return try context.fetch(request).map { "\($0.value(forKey: "number") ?? "nil")" }.joined(separator: " ")
      case .dictionaries(let above):
        let request = NSFetchRequest<NSDictionary>(entityName: "Node")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["number", "parent.number", "box.number"]
        request.predicate = NSPredicate(format: "number > %d", above)
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        request.includesPendingChanges = false
        return try context.fetch(request).map { row in
          ["number", "parent.number", "box.number"].map { "\(row[$0] ?? "nil")" }.joined(separator: "|")
        }.joined(separator: " ")
      }
      context.processPendingChanges()
      return "done"
    }

    private func pick(_ entity: String, _ place: Int) throws -> NSManagedObject? {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
      let found = try context.fetch(request)
      return found.isEmpty ? nil : found[place % found.count]
    }

    /// What the context shows, and what a new context reads.
    func state() throws -> String {
      try [context, graph.context()].map { context in
        try context.performAndWait {
          try [
            ("Node", ["box", "children", "friends", "note", "parent", "partner", "rankings", "tags"]),
            ("Box", ["items"]), ("Tag", ["nodes", "ranked"]),
          ].flatMap { entity, keys in
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
            return try context.fetch(request).map { object in
              "\(object.entity.name ?? "") \(object.value(forKey: "number") ?? "")"
                + keys.map { " \($0) \(LinkedGraph.numbers(object, $0))" }.joined()
            }
          }.joined(separator: "\n")
        }
      }.joined(separator: "\n--\n")
    }
  }

  /// The first step whose answers differ; nil if there is none.
  private static func disagreement(seed: UInt64, with kind: StoreKind = .bruteForce, forgets: Bool = false) throws -> (
    difference: String?, answers: [String]
  ) {
    var random = SeededGenerator(seed: seed)
    let players = [try Player(.sqlite), try Player(kind)]
    var (log, all) = ([String](), [String]())
    for number in 0..<stepCount {
      let step = Step.random(&random)
      log.append("\(step)")
      var answers = players.map { $0.take(step, number: number) }
      if forgets, case .batchDelete = step, answers[1] == "error 1600" { answers[1] = "0" }
      let states = try players.map { try $0.state() }
      all.append("\(step): \(answers[0])")
      if answers[0] != answers[1] || states[0] != states[1] {
        let difference = """
          seed \(seed), after:
          \(log.suffix(8).joined(separator: "\n"))
          SQLite answers \(answers[0])
          \(states[0])
          \(kind.rawValue) answers \(answers[1])
          \(states[1])
          """
        return (difference, all)
      }
    }
    return (nil, all)
  }

  @Test(
    "Any sequence of changes, batch deletions and fetches over relationships",
    arguments: Randomness.seeds(4, long: 300))
  func agreement(seed: UInt64) throws {
    for kind in StoreKind.available where kind != .sqlite {
      if let difference = try Self.disagreement(seed: seed, with: kind).difference { Issue.record("\(difference)") }
    }
  }

  @Test("Batch deletions are refused and done, and a store that forgets the refusal is noticed")
  func canary() throws {
    var answers: [String] = []
    let isNoticed = try (UInt64(1)...12).map { seed in
      answers += try Self.disagreement(seed: seed).answers
      return try Self.disagreement(seed: seed, forgets: true).difference != nil
    }
    #expect(isNoticed.contains(true))
    let deletions = answers.filter { $0.hasPrefix("batchDelete") }
    #expect(deletions.contains { $0.hasSuffix("error 1600") })
    #expect(deletions.contains { !$0.hasSuffix("error 1600") && !$0.hasSuffix(": 0") })
  }
}
