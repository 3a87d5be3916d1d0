import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

/// The kinds of to-many relationships on both sides, as lists of numbers: both sides in order, one side, and a relationship
/// that is its own inverse.
struct MeshReference {
  /// By key the key of the other end.
  static let inverses = [
    "downstream": "upstream", "upstream": "downstream", "watches": "watchers", "watchers": "watches", "peers": "peers",
    "twins": "twins",
  ]
  /// Those without an order are sorted.
  static let unordered: Set<String> = ["watches", "twins"]
  static let keys = inverses.keys.sorted()

  var numbers: Set<Int> = []
  private var lists: [String: [Int: [Int]]] = [:]
  /// A planted error: an object that goes stays in the order of those that it was linked with.
  var keepsRemoved = false

  func list(_ key: String, of number: Int) -> [Int] {
    let list = lists[key]?[number] ?? []
    return Self.unordered.contains(key) ? list.sorted() : list
  }

  /// All that every object has.
  var shown: [String: [Int]] {
    var shown: [String: [Int]] = [:]
    for number in numbers { for key in Self.keys { shown["\(number).\(key)"] = list(key, of: number) } }
    return shown
  }

  mutating func add(_ other: Int, to key: String, of number: Int) {
    append(other, to: key, of: number)
    append(number, to: Self.inverses[key] ?? key, of: other)
  }

  mutating func remove(_ other: Int, from key: String, of number: Int) {
    lists[key]?[number]?.removeAll { $0 == other }
    if !keepsRemoved { lists[Self.inverses[key] ?? key]?[other]?.removeAll { $0 == number } }
  }

  /// What leaves the list goes first, then what is new comes in its order.
  mutating func set(_ new: [Int], _ key: String, of number: Int) {
    for other in list(key, of: number) where !new.contains(other) { remove(other, from: key, of: number) }
    for other in new { add(other, to: key, of: number) }
    // Its own inverse: the object may be in its own list.
    lists[key, default: [:]][number] = new
  }

  mutating func delete(_ number: Int) {
    numbers.remove(number)
    for key in Self.keys {
      lists[key]?[number] = nil
      for other in lists[key]?.keys.sorted() ?? [] { lists[key]?[other]?.removeAll { $0 == number } }
    }
  }

  private mutating func append(_ other: Int, to key: String, of number: Int) {
    if lists[key]?[number]?.contains(other) != true { lists[key, default: [:]][number, default: []].append(other) }
  }
}

/// Plays random changes of such relationships on a chain of contexts and on the reference.
final class MeshPlayer {
  static let xml = """
    <model>
      <entity name="Knot">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="downstream" optional="YES" toMany="YES" ordered="YES" destinationEntity="Knot" inverseName="upstream" inverseEntity="Knot"/>
        <relationship name="peers" optional="YES" toMany="YES" ordered="YES" destinationEntity="Knot" inverseName="peers" inverseEntity="Knot"/>
        <relationship name="twins" optional="YES" toMany="YES" destinationEntity="Knot" inverseName="twins" inverseEntity="Knot"/>
        <relationship name="upstream" optional="YES" toMany="YES" ordered="YES" destinationEntity="Knot" inverseName="downstream" inverseEntity="Knot"/>
        <relationship name="watchers" optional="YES" toMany="YES" ordered="YES" destinationEntity="Knot" inverseName="watches" inverseEntity="Knot"/>
        <relationship name="watches" optional="YES" toMany="YES" destinationEntity="Knot" inverseName="watchers" inverseEntity="Knot"/>
      </entity>
      <entity name="Bend" parentEntity="Knot"/>
    </model>
    """

  let graph: LinkedGraph
  private let contexts: [NSManagedObjectContext]
  /// What each context has, and at the end what the store has.
  var references: [MeshReference]
  private var random: SeededGenerator
  private var log: [String] = []
  private var lastNumber = 0
  /// What undos and redos lead to.
  private var past: [MeshReference] = []
  private var future: [MeshReference] = []
  private var leaf: NSManagedObjectContext { contexts[0] }

  init(seed: UInt64, undoes: Bool = false) throws {
    graph = try LinkedGraph(xml: Self.xml, kind: .current)
    random = SeededGenerator(seed: seed)
    var contexts = [graph.context()]
    for _ in 0..<Int.random(in: 0..<3, using: &random) { contexts.insert(graph.context(contexts[0]), at: 0) }
    self.contexts = contexts
    references = Array(repeating: MeshReference(), count: contexts.count + 1)
    if undoes {
      let manager = UndoManager()
      manager.groupsByEvent = false
      contexts[0].undoManager = manager
    }
  }

  /// - Returns: The first disagreement; nil if there is none.
  func play(steps: Int) throws -> String? {
    for _ in 0..<steps {
      if let found = try leaf.performAndWait({ try play() }) { return found }
    }
    return try save(through: contexts.count - 1)
  }

  private func play() throws -> String? {
    switch Int.random(in: 0..<(leaf.undoManager == nil ? 16 : 22), using: &random) {
    case 0..<3: try undoable { insert() }
    case 3..<12: try undoable { try change() }
    case 12: try undoable { try delete() }
    case 13:
      log.append("rollback")
      leaf.rollback()
      references[0] = references[1]
      (past, future) = ([], [])
    case 14: leaf.refreshAllObjects()
    case 16..<20:
      log.append("undo")
      leaf.undo()
      step(from: &past, to: &future)
    case 20...:
      log.append("redo")
      leaf.redo()
      step(from: &future, to: &past)
    default: return try save(through: Int.random(in: contexts.indices, using: &random))
    }
    // Comparing reads all; so seldom that most changes are made on what was not read.
    return Int.random(in: 0..<5, using: &random) == 0 ? try disagreement() : nil
  }

  /// Makes a change that one undo takes back.
  private func undoable(_ body: () throws -> Void) throws {
    guard let manager = leaf.undoManager else { return try body() }
    let (before, count) = (references[0], manager.undoStack.count)
    manager.beginUndoGrouping()
    try body()
    manager.endUndoGrouping()
    if manager.undoStack.count > count {
      past.append(before)
      future = []
    } else {
      try #require(before.shown == references[0].shown, "The change was not registered\(history)")
    }
  }

  private func step(from: inout [MeshReference], to other: inout [MeshReference]) {
    guard let state = from.popLast() else { return }
    other.append(references[0])
    references[0] = state
  }

  private func insert() {
    lastNumber += 1
    references[0].numbers.insert(lastNumber)
    log.append("\(lastNumber)")
    LinkedGraph.make(lastNumber.isMultiple(of: 3) ? "Bend" : "Knot", lastNumber, in: leaf)
  }

  private func delete() throws {
    guard let number = references[0].numbers.sorted().randomElement(using: &random) else { return }
    log.append("delete \(number)")
    leaf.delete(try object(number))
    leaf.processPendingChanges()
    references[0].delete(number)
  }

  private func change() throws {
    let numbers = references[0].numbers.sorted()
    guard let number = numbers.randomElement(using: &random), let other = numbers.randomElement(using: &random),
      let key = MeshReference.keys.randomElement(using: &random)
    else { return }
    let isOrdered = !MeshReference.unordered.contains(key)
    let owner = try object(number)
    switch Int.random(in: 0..<6, using: &random) {
    case 0..<2:
      log.append("\(number).\(key) + \(other)")
      references[0].add(other, to: key, of: number)
      if isOrdered {
        owner.mutableOrderedSetValue(forKey: key).add(try object(other))
      } else {
        owner.mutableSetValue(forKey: key).add(try object(other))
      }
    case 2:
      log.append("\(number).\(key) - \(other)")
      references[0].remove(other, from: key, of: number)
      if isOrdered {
        owner.mutableOrderedSetValue(forKey: key).remove(try object(other))
      } else {
        owner.mutableSetValue(forKey: key).remove(try object(other))
      }
    default:
      let new = numbers.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }.shuffled(using: &random)
      log.append("\(number).\(key) = \(new)")
      references[0].set(isOrdered ? new : new.sorted(), key, of: number)
      let objects = try (isOrdered ? new : new.sorted()).map(object)
      owner.setValue(isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects), forKey: key)
    }
  }

  private func save(through last: Int) throws -> String? {
    for level in 0...last {
      log.append("save \(level)")
      references[level + 1] = references[level]
      try contexts[level].performAndWait { try contexts[level].save() }
    }
    if let found = try leaf.performAndWait({ try disagreement() }) { return found }
    return last == contexts.count - 1 ? try rowDifference() : nil
  }

  private func object(_ number: Int) throws -> NSManagedObject { try LinkedGraph.find("Knot", number, in: leaf) }

  private func disagreement() throws -> String? {
    try disagreement(references[0], in: leaf)
  }

  private func disagreement(_ reference: MeshReference, in context: NSManagedObjectContext) throws -> String? {
    for number in reference.numbers.sorted() {
      let object = try LinkedGraph.find("Knot", number, in: context)
      for key in MeshReference.keys {
        let (found, expected) = (LinkedGraph.numbers(object, key), reference.list(key, of: number))
        if found != expected { return "\(number).\(key) is \(found), expected \(expected)\(history)" }
      }
    }
    return nil
  }

  private var history: String { "\nafter " + log.suffix(60).joined(separator: "; ") }

  /// What a new coordinator reads, and for SQLite what the shell reads of the list that both sides order.
  private func rowDifference() throws -> String? {
    let reference = references[contexts.count]
    let context = graph.kind == .sqlite ? NSManagedObjectContext(concurrencyType: .privateQueue) : graph.context()
    if graph.kind == .sqlite { context.persistentStoreCoordinator = try graph.newCoordinator() }
    if let found = try context.performAndWait({ try disagreement(reference, in: context) }) {
      return "read anew: \(found)"
    }
    guard graph.kind == .sqlite else { return nil }
    for (key, owner, member, position) in [
      ("downstream", "Z_1UPSTREAM", "Z_1DOWNSTREAM", "Z_FOK_1DOWNSTREAM"),
      ("upstream", "Z_1DOWNSTREAM", "Z_1UPSTREAM", "Z_FOK_1UPSTREAM"),
    ] {
      let expected = reference.numbers.sorted().flatMap { number in
        reference.list(key, of: number).map { "\(number) \($0)" }
      }
      let table = try sqlite(graph.file, "SELECT name FROM sqlite_master WHERE name LIKE 'Z#_1%STREAM' ESCAPE '#'")
      let found = try sqlite(
        graph.file,
        "SELECT a.ZNUMBER || ' ' || b.ZNUMBER FROM \(table) j JOIN ZKNOT a ON a.Z_PK = j.\(owner) "
          + "JOIN ZKNOT b ON b.Z_PK = j.\(member) ORDER BY a.ZNUMBER, j.\(position)"
      ).split(separator: "\n").map(String.init)
      if found != expected { return "rows of \(key) are \(found), expected \(expected)\(history)" }
    }
    return nil
  }
}
