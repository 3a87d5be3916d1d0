import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

/// Plays random operations on a chain of contexts and on the reference, and compares them.
final class GraphPlayer {
  let graph: LinkedGraph
  /// From the context that is changed to the one on the coordinator.
  private let contexts: [NSManagedObjectContext]
  /// What each context has, and at the end what the store has.
  var references: [GraphReference]
  private var random: SeededGenerator
  let announced: AnnouncedNumbers
  /// Held for a while, so that some are known and others are faults.
  private var held: [Int: NSManagedObject] = [:]
  private var lastNumber = 0
  private(set) var log: [String] = []
  /// What undos and redos lead to.
  private var past: [GraphReference] = []
  private var future: [GraphReference] = []
  /// A planted error: undos turn lists round.
  var turnsListsRound = false

  /// Looks at the store after each save to it; returns what is wrong there.
  var inspectsStore: (() throws -> String?)?

  init(seed: UInt64, undoes: Bool = false, options: [AnyHashable: Any]? = nil) throws {
    graph = try LinkedGraph(kind: .current, options: options)
    random = SeededGenerator(seed: seed)
    var contexts = [graph.context()]
    for _ in 0..<Int.random(in: 0..<3, using: &random) { contexts.insert(graph.context(contexts[0]), at: 0) }
    self.contexts = contexts
    announced = AnnouncedNumbers(contexts[0])
    references = Array(repeating: GraphReference(), count: contexts.count + 1)
    if undoes {
      let manager = UndoManager()
      manager.groupsByEvent = false
      contexts[0].undoManager = manager
    }
  }

  var leaf: NSManagedObjectContext { contexts[0] }

  /// - Returns: The first disagreement or error; nil if there is none.
  func play(steps: Int) throws -> String? {
    do { return try playAndCompare(steps: steps) } catch { return "\(error)\(history)" }
  }

  private func playAndCompare(steps: Int) throws -> String? {
    for step in 0..<steps {
      if let found = try leaf.performAndWait({ try play() }) { return found }
      // Comparing reads all; so seldom that most changes are made on what was not read.
      if Int.random(in: 0..<6, using: &random) == 0 || step == steps - 1 {
        if let found = try leaf.performAndWait({ try disagreement() }) { return found }
      }
    }
    for level in contexts.indices { try save(level) }
    return try leaf.performAndWait { try disagreement() } ?? rowDisagreement()
  }

  // MARK: Operations

  /// - Returns: How the rows differ after a save to the store; nil if they do not.
  private func play() throws -> String? {
    switch Int.random(in: 0..<(leaf.undoManager == nil ? 24 : 32), using: &random) {
    case 0..<5: return try announcing { insert() }
    case 5..<17: return try announcing { try link() }
    case 17: return try announcing { try delete() }
    case 18..<21:
      let last = Int.random(in: contexts.indices, using: &random)
      for level in 0...last { try save(level) }
      if last == contexts.count - 1 { return try rowDisagreement() ?? inspectsStore?() }
    case 21:
      log.append("rollback")
      references[0] = references[1]
      leaf.rollback()
      held = [:]
      (past, future) = ([], [])
    case 22:
      log.append("let go")
      held = [:]
      if !leaf.hasChanges {
        leaf.reset()
        (past, future) = ([], [])
      }
    case 24..<29:
      log.append("undo")
      leaf.undo()
      step(from: &past, to: &future)
      if turnsListsRound { references[0].items = references[0].items.mapValues { $0.reversed() } }
    case 29...:
      log.append("redo")
      leaf.redo()
      step(from: &future, to: &past)
    default:
      log.append("refresh all")
      leaf.refreshAllObjects()
    }
    return nil
  }

  /// Makes a change that the context has to announce.
  ///
  /// - Returns: What it did not announce.
  private func announcing(_ body: () throws -> Void) throws -> String? {
    // Most events have several changes.
    guard Int.random(in: 0..<4, using: &random) == 0 else {
      try undoable(body)
      return nil
    }
    leaf.processPendingChanges()
    _ = announced.take()
    let before = references[0]
    try undoable(body)
    return announcementGap(since: before)
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

  private func step(from: inout [GraphReference], to other: inout [GraphReference]) {
    guard let state = from.popLast() else { return }
    other.append(references[0])
    references[0] = state
    held = held.filter { state.kinds[$0.key] != nil }
  }

  private func save(_ level: Int) throws {
    log.append("save \(level)")
    references[level + 1] = references[level]
    try contexts[level].performAndWait { try contexts[level].save() }
  }

  private func insert() {
    lastNumber += 1
    let kinds: [GraphReference.Kind] = [.node, .node, .leaf, .tag, .box]
    let kind = kinds.randomElement(using: &random) ?? .node
    log.append("\(lastNumber) = \(kind.rawValue)")
    references[0].kinds[lastNumber] = kind
    held[lastNumber] = LinkedGraph.make(kind.rawValue, lastNumber, in: leaf)
  }

  private func delete() throws {
    guard let number = references[0].kinds.keys.sorted().randomElement(using: &random) else { return }
    let object = try object(number)
    log.append("delete \(number)")
    for (node, tag) in references[0].note where tag == number {
      references[0].note[node] = nil
      try self.object(node).setValue(nil, forKey: "note")
    }
    references[0].delete(number)
    leaf.delete(object)
    leaf.processPendingChanges()
    held = held.filter { references[0].kinds[$0.key] != nil }
  }

  private func link() throws {
    guard let node = references[0].nodes.randomElement(using: &random) else { return }
    let other = pick(references[0].nodes)
    let tag = pick(references[0].numbers(.tag))
    let box = pick(references[0].numbers(.box))
    switch Int.random(in: 0..<16, using: &random) {
    case 0, 1:
      references[0].setPartner(node, other)
      try set(node, "partner", to: other)
    case 2:
      references[0].parent[node] = other
      try set(node, "parent", to: other)
    case 3:
      references[0].note[node] = tag
      try set(node, "note", to: tag)
    case 4, 5:
      references[0].setBox(node, box)
      try set(node, "box", to: box)
    case 6:
      guard let other else { return }
      try change(node, "children", by: other) { reference, isAdded in
        if isAdded || reference.parent[other] == node { reference.parent[other] = isAdded ? node : nil }
      }
    case 7, 8:
      guard let other else { return }
      try change(node, "friends", by: other) { reference, isAdded in
        let now = reference.friends[node] ?? []
        reference.setFriends(node, isAdded ? now.union([other]) : now.subtracting([other]))
      }
    case 9:
      guard let tag else { return }
      try change(node, "tags", by: tag) { reference, isAdded in
        if isAdded { reference.tags[node, default: []].insert(tag) } else { reference.tags[node]?.remove(tag) }
      }
    case 10:
      guard let tag else { return }
      try change(tag, "nodes", by: node) { reference, isAdded in
        if isAdded { reference.tags[node, default: []].insert(tag) } else { reference.tags[node]?.remove(tag) }
      }
    case 11:
      guard let tag else { return }
      try change(node, "rankings", by: tag) { reference, isAdded in
        Self.rank(node, by: tag, isAdded: isAdded, &reference)
      }
    case 12: try setRandomly(node, "friends", of: references[0].nodes) { $0.setFriends(node, Set($1)) }
    case 13: try setRandomly(node, "tags", of: references[0].numbers(.tag)) { $0.tags[node] = Set($1) }
    case 14:
      guard let tag else { return }
      try arrange(tag, "ranked") { $0.ranked[tag] = $1 }
    default:
      guard let box else { return }
      try arrange(box, "items") { $0.setItems(box, $1) }
    }
  }

  private static func rank(_ node: Int, by tag: Int, isAdded: Bool, _ reference: inout GraphReference) {
    if !isAdded {
      reference.ranked[tag]?.removeAll { $0 == node }
    } else if reference.ranked[tag]?.contains(node) != true {
      reference.ranked[tag, default: []].append(node)
    }
  }

  private func pick(_ numbers: [Int]) -> Int? {
    Int.random(in: 0..<5, using: &random) == 0 ? nil : numbers.randomElement(using: &random)
  }

  private func set(_ number: Int, _ key: String, to other: Int?) throws {
    log.append("\(number).\(key) = \(other.map(String.init) ?? "nil")")
    try object(number).setValue(try other.map(object), forKey: key)
  }

  private func change(
    _ number: Int, _ key: String, by other: Int, body: (inout GraphReference, _ isAdded: Bool) -> Void
  ) throws {
    let isAdded = Int.random(in: 0..<3, using: &random) > 0
    log.append("\(number).\(key) \(isAdded ? "+" : "-") \(other)")
    body(&references[0], isAdded)
    let set = try object(number).mutableSetValue(forKey: key)
    if isAdded { set.add(try object(other)) } else { set.remove(try object(other)) }
  }

  private func setRandomly(
    _ number: Int, _ key: String, of all: [Int], body: (inout GraphReference, [Int]) -> Void
  ) throws {
    let chosen = all.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
    log.append("\(number).\(key) = \(chosen)")
    body(&references[0], chosen)
    try object(number).setValue(NSSet(array: try chosen.map(object)), forKey: key)
  }

  /// Changes an ordered relationship as a whole, or through its proxy.
  private func arrange(_ number: Int, _ key: String, body: (inout GraphReference, [Int]) -> Void) throws {
    var list = references[0].related(number, key)
    let owner = try object(number)
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      list = references[0].nodes.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }.shuffled(using: &random)
      owner.setValue(NSOrderedSet(array: try list.map(object)), forKey: key)
    case 1:
      guard let new = references[0].nodes.randomElement(using: &random), !list.contains(new) else { return }
      let place = Int.random(in: 0...list.count, using: &random)
      list.insert(new, at: place)
      owner.mutableOrderedSetValue(forKey: key).insert(try object(new), at: place)
    case 2:
      guard !list.isEmpty else { return }
      let place = list.indices.randomElement(using: &random) ?? 0
      list.remove(at: place)
      owner.mutableOrderedSetValue(forKey: key).removeObject(at: place)
    default:
      guard list.count > 1 else { return }
      list.swapAt(0, list.count - 1)
      owner.mutableOrderedSetValue(forKey: key).exchangeObject(at: 0, withObjectAt: list.count - 1)
    }
    log.append("\(number).\(key) = \(list)")
    body(&references[0], list)
  }

  func object(_ number: Int) throws -> NSManagedObject {
    if let known = held[number], known.managedObjectContext != nil { return known }
    let kind = try #require(references[0].kinds[number])
    let found = try LinkedGraph.find(kind.rawValue, number, in: leaf)
    held[number] = found
    return found
  }

  // MARK: Comparing

  func disagreement() throws -> String? {
    let reference = references[0]
    for (number, kind) in reference.kinds.sorted(by: { $0.key < $1.key }) {
      let object = try object(number)
      for key in GraphReference.keys(kind) {
        let (found, expected) = (LinkedGraph.numbers(object, key), reference.related(number, key))
        if found != expected { return "\(number).\(key) is \(found), expected \(expected)\(history)" }
      }
    }
    return try changeDisagreement()
  }

  var history: String { "\nafter " + log.suffix(60).joined(separator: "; ") }

  /// Compares the rows, read by the `sqlite3` shell, with what the store is to have.
  func rowDisagreement() throws -> String? {
    try graph.rowDifference(from: references[contexts.count]).map { $0 + history }
  }
}
