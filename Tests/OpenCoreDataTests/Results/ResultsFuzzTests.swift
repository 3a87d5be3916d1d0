import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSFetchedResultsController, "Responding to Changes"; NSFetchedResultsControllerDelegate,
// controller(_:didChange:at:for:newIndexPath:)): the controller shows what its request finds after any change of its
// context, unsaved ones included; a table that does what the callbacks say shows the same. Random edits are played
// against another fetch as the model; a failure reports the seed.

@Suite("After any edits, a controller shows what a fetch finds, and its delegate knows", .overBothStores, .seeded)
struct ResultsFuzzTests {
  /// What a round plays with.
  struct Setting: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var keys: [String]
    var section: String?
    var predicate: String? = "rating >= 2"
    var batchSize = 0
    /// Whether the controller's context is a child of a writer.
    var isChild = false
    var contents = ChangeNotificationContents.objects
  }

  static let settings = [
    Setting(testDescription: "no sections", keys: ["rating", "title"]),
    Setting(testDescription: "sections", keys: ["place", "-rating", "title"], section: "place"),
    Setting(
      testDescription: "sections, descending, no predicate", keys: ["-rating", "title"], section: "rating",
      predicate: nil),
    Setting(
      testDescription: "sections of a child", keys: ["place", "rating", "title"], section: "place", isChild: true),
    Setting(testDescription: "batches", keys: ["place", "title"], section: "place", batchSize: 3),
    Setting(testDescription: "batches of a child", keys: ["rating", "title"], batchSize: 2, isChild: true),
    Setting(testDescription: "IDs announced", keys: ["place", "title"], section: "place", contents: .objectIDs),
    Setting(
      testDescription: "IDs announced to a child", keys: ["-place", "title"], section: "place", isChild: true,
      contents: .objectIDs),
    Setting(testDescription: "equal keys", keys: ["place", "rating"], section: "place"),
  ]

  @Test(arguments: settings, Randomness.seeds(1, long: 60))
  func agreement(_ setting: Setting, seed: UInt64) throws {
    let stack = try Stack(TemporaryFolder(), model: Results.model())
    let player = try ResultsPlayer(stack, setting, seed: seed)
    let disagreement = try player.play(steps: 80)
    #expect(disagreement == nil)
  }
}

/// Plays random edits on a context with a controller, its children, and other contexts.
private final class ResultsPlayer {
  private let stack: Stack
  private let setting: ResultsFuzzTests.Setting
  private let seed: UInt64
  private var random: SeededGenerator
  private let root: NSManagedObjectContext
  private let context: NSManagedObjectContext
  private let controller: NSFetchedResultsController<NSManagedObject>
  private let table = TableMirror()
  private var titleCount = 0
  private var log: [String] = []

  init(_ stack: Stack, _ setting: ResultsFuzzTests.Setting, seed: UInt64) throws {
    (self.stack, self.setting, self.seed) = (stack, setting, seed)
    random = SeededGenerator(seed: seed)
    root = stack.context()
    context = setting.isChild ? stack.context(root) : root
    for each in [root, context] {
      each.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      each.changeNotificationContents = setting.contents
    }
    let request = Results.request(setting.keys, setting.predicate)
    request.fetchBatchSize = setting.batchSize
    controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: setting.section, cacheName: nil)
    controller.delegate = table
    try context.performAndWait {
      edit(context, inserting: 12)
      try context.save()
      context.reset()
      try controller.performFetch()
      table.load(controller)
    }
  }

  /// The first disagreement, nil if there is none.
  func play(steps: Int) throws -> String? {
    for _ in 0..<steps {
      try step()
      let difference = try context.performAndWait {
        context.processPendingChanges()
        return try disagreement()
      }
      if let difference {
        return "seed \(seed): after \(log.suffix(8).joined(separator: "; ")):\n\(difference)"
      }
    }
    return nil
  }

  private func step() throws {
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<8: context.performAndWait { edit(context, inserting: Int.random(in: 0...2, using: &random)) }
    case 8..<10: try context.performAndWait { try saved(context) }
    case 10: try root.performAndWait { try saved(root) }
    case 11: context.performAndWait { noted("rollback").rollback() }
    case 12: context.performAndWait { refreshOne() }
    case 13: context.performAndWait { noted("refresh all").refreshAllObjects() }
    case 14..<17: try editInChild()
    case 17..<19: try editElsewhere()
    default: context.performAndWait { noted("reset").reset() }
    }
  }

  private func noted(_ step: String) -> NSManagedObjectContext {
    log.append(step)
    return context
  }

  private func saved(_ context: NSManagedObjectContext) throws {
    log.append("save \(context === root ? "root" : "context")")
    try context.save()
  }

  private func refreshOne() {
    guard let object = objects(context).randomElement(using: &random) else { return }
    let keeps = Bool.random(using: &random)
    noted("refresh \(object.sessionTitle) \(keeps)").refresh(object, mergeChanges: keeps)
  }

  private func editInChild() throws {
    let child = stack.context(context)
    log.append("in a child:")
    try child.performAndWait {
      edit(child, inserting: Int.random(in: 0...2, using: &random))
      try child.save()
    }
  }

  /// On another context next to this one, whose save is merged here.
  private func editElsewhere() throws {
    let other = stack.context(setting.isChild ? root : nil)
    other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    log.append("elsewhere:")
    let notes = NoteKeeper(other)
    try other.performAndWait {
      edit(other, inserting: Int.random(in: 0...2, using: &random))
      try other.save()
    }
    for note in notes.notifications where note.name == .NSManagedObjectContextDidSave {
      context.performAndWait { context.mergeChanges(fromContextDidSave: note) }
    }
  }

  private func objects(_ context: NSManagedObjectContext) -> [NSManagedObject] {
    ((try? context.fetch(Results.request(["title"]))) ?? [])
  }

  /// Inserts some sessions, changes and deletes a few others.
  private func edit(_ context: NSManagedObjectContext, inserting count: Int) {
    for _ in 0..<count {
      titleCount += 1
      let (place, rating) = (randomPlace(), Int.random(in: 1...5, using: &random))
      log.append("insert t\(titleCount) \(place ?? "nil") \(rating)")
      Results.insert("t\(titleCount)", place: place, rating: rating, in: context, stack.entity)
    }
    let all = objects(context).shuffled(using: &random).prefix(Int.random(in: 0...4, using: &random))
    for object in all {
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        log.append("delete \(object.sessionTitle)")
        context.delete(object)
      case 1..<3: set(object, "rating", to: Int.random(in: 1...5, using: &random))
      case 3..<5: set(object, "place", to: randomPlace())
      default: set(object, "date", to: Date(timeIntervalSinceReferenceDate: Double(random.next() % 1000)))
      }
    }
  }

  private func set(_ object: NSManagedObject, _ key: String, to value: Any?) {
    log.append("\(object.sessionTitle).\(key) = \(value.map { "\($0)" } ?? "nil")")
    object.setValue(value, forKey: key)
  }

  private func randomPlace() -> String? {
    let places = ["Bells", "Cloud 9", "Jaws", "Uluwatu", "Waimea", nil]
    return places[Int.random(in: 0..<places.count, using: &random)]
  }

  private func disagreement() throws -> String? {
    if !table.faults.isEmpty { return "callbacks: \(table.faults)" }
    let shown = TableMirror.content(controller)
    if table.sections != shown { return "the table:\n\(table.sections)\nthe controller:\n\(shown)\n\(table.takeLog())" }
    _ = table.takeLog()
    let model = try Self.model(in: context, request: controller.fetchRequest, section: setting.section)
    if setting.keys.contains("title") {
      return model == shown ? nil : "the controller:\n\(shown)\na fetch:\n\(model)"
    }
    // Objects with equal keys may come in any order.
    func keys(_ sections: [TableMirror.Section]) -> [[String]] {
      sections.map { [$0.name] + $0.rows.map { $0.split(separator: "|")[1...2].joined(separator: "|") } }
    }
    let agree = keys(model) == keys(shown) && model.map { $0.rows.sorted() } == shown.map { $0.rows.sorted() }
    return agree ? nil : "the controller:\n\(shown)\na fetch:\n\(model)"
  }

  /// Sections as their definition says, from another fetch.
  private static func model(
    in context: NSManagedObjectContext, request: NSFetchRequest<NSManagedObject>, section: String?
  ) throws -> [TableMirror.Section] {
    let objects = try context.fetch(request)
    guard let section else { return [.init(name: "", rows: objects.map(Results.text))] }
    var result: [TableMirror.Section] = []
    for object in objects {
      let name = object.value(forKey: section).map { "\($0)" } ?? ""
      if result.last?.name != name { result.append(.init(name: name, rows: [])) }
      result[result.count - 1].rows.append(Results.text(object))
    }
    return result
  }
}
