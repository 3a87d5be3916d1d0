import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

/// Plays random changes in several contexts that share a parent or a store and don't wait for each other, and compares
/// them with the reference, to which the changes of each context are applied as changes.
final class SharedGraphPlayer {
  enum Kind: String, CaseIterable, Sendable {
    /// Children of one context.
    case siblings
    /// Contexts of one coordinator.
    case contexts
    /// Contexts of several coordinators over one file.
    case coordinators
  }

  /// One of the contexts.
  final class Member {
    let context: NSManagedObjectContext
    let keeper: NoteKeeper
    /// What it has read, and what it has changed since.
    var base = GraphReference()
    var pending: [GraphChange] = []
    var held: [Int: NSManagedObject] = [:]
    /// What others have saved since it has read.
    var missed: [Notification] = []

    init(_ context: NSManagedObjectContext) {
      self.context = context
      keeper = NoteKeeper(context)
    }

    var isQuiet: Bool { pending.isEmpty && missed.isEmpty }
    var reference: GraphReference { base.applying(pending) }
  }

  let graph: LinkedGraph
  private let kind: Kind
  /// The parent of siblings.
  private let root: NSManagedObjectContext?
  private let members: [Member]
  /// What all save to has now, and what the store has.
  private var shared = GraphReference()
  private var stored = GraphReference()
  private var random: SeededGenerator
  private var lastNumber = 0
  private var log: [String] = []
  /// Whether contexts know all they have, so that they need not see at once what others save.
  private let readsAll: Bool
  /// Whether a conflict is an error, after which the context merges.
  private let isStrict: Bool
  /// Lists to whose end two contexts have moved one object: which of the two is the last one is not fixed.
  private var unordered: Set<String> = []
  /// A planted error: the reference forgets what a merge brings.
  var forgetsMerges = false

  init(_ kind: Kind, seed: UInt64) throws {
    // Coordinators share a file.
    graph = try LinkedGraph(kind: kind == .coordinators ? .sqlite : .current)
    random = SeededGenerator(seed: seed)
    self.kind = kind
    readsAll = Bool.random(using: &random)
    let isStrict = Bool.random(using: &random)
    self.isStrict = isStrict
    let count = Int.random(in: 2...3, using: &random)
    let (graph, root) = (graph, kind == .siblings ? graph.context() : nil)
    // What a child is based on may be older than what its parent has saved for a sibling.
    root?.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    self.root = root
    members = try (0..<count).map { index in
      let context = graph.context(root)
      if kind == .coordinators, index > 0 { context.persistentStoreCoordinator = try graph.newCoordinator() }
      context.mergePolicy = isStrict ? NSErrorMergePolicy : NSMergePolicy.mergeByPropertyObjectTrump
      return Member(context)
    }
  }

  // MARK: Playing

  /// - Returns: The first disagreement or error; nil if there is none.
  func play(steps: Int) -> String? {
    do {
      return try played(steps: steps)
    } catch {
      return "\((error as NSError).localizedDescription)\(history)"
    }
  }

  private func played(steps: Int) throws -> String? {
    for _ in 0..<steps { if let found = try step() { return found } }
    for index in members.indices { if let found = try save(index) ?? synchronize(index) { return found } }
    try saveRoot()
    for member in members {
      member.context.performAndWait { member.context.reset() }
      (member.held, member.base) = ([:], shared)
      if let found = try disagreement(member) { return found }
    }
    return try graph.rowDifference(from: stored, unordered: unordered).map { $0 + history }
  }

  private func step() throws -> String? {
    let index = members.indices.randomElement(using: &random) ?? 0
    let member = members[index]
    switch Int.random(in: 0..<24, using: &random) {
    case 0..<3:
      lastNumber += 1
      let kinds: [GraphReference.Kind] = [.node, .node, .leaf, .tag, .box]
      let made = kinds.randomElement(using: &random) ?? .node
      log.append("\(index): \(lastNumber) = \(made.rawValue)")
      member.pending.append(.made(lastNumber, made))
      let number = lastNumber
      member.context.performAndWait {
        member.held[number] = LinkedGraph.make(made.rawValue, number, in: member.context)
      }
    case 3..<14: try change(index)
    case 14..<18: return try save(index)
    case 18: return try synchronize(index)
    case 19:
      log.append("\(index): rollback")
      member.pending = []
      member.context.performAndWait { member.context.rollback() }
      member.held = [:]
      if !member.missed.isEmpty || readsAll { return try synchronize(index) }
    case 20:
      try delete(index)
    case 21:
      if !readsAll { member.held = [:] }
    default:
      try saveRoot()
      return try graph.rowDifference(from: stored, unordered: unordered).map { $0 + history }
    }
    return nil
  }

  // MARK: Saving and merging

  private func save(_ index: Int) throws -> String? {
    let member = members[index]
    // Without changes it would not read anew what others have saved.
    if member.pending.isEmpty { return nil }
    log.append("\(index): save")
    unordered.formUnion(shared.listsWithMembers(of: member.pending))
    shared = shared.applying(member.pending)
    if root == nil { stored = shared }
    let seen = member.keeper.notifications.count
    do {
      try member.context.performAndWait { try member.context.save() }
    } catch let error as NSError where error.code == NSManagedObjectMergeError && isStrict && !member.missed.isEmpty {
      // Once it has seen what others have saved there is no conflict.
      log.append("\(index): merge \(member.missed.count), save again")
      try member.context.performAndWait {
        for note in member.missed { merge(note, member) }
        try member.context.save()
      }
      member.missed = []
    }
    let saved = member.keeper.notifications[seen...].filter { $0.name == .NSManagedObjectContextDidSave }
    // Relationships are read anew after a save; the versions of rows are not.
    (member.pending, member.base) = ([], shared)
    for (other, one) in members.enumerated() where other != index {
      one.missed += saved
      if !readsAll, let found = try synchronize(other) { return found }
    }
    if readsAll { return try disagreement(member) }
    return nil
  }

  /// The context sees what others have saved, by a merge or a refresh.
  private func synchronize(_ index: Int) throws -> String? {
    let member = members[index]
    let refreshes = Int.random(in: 0..<3, using: &random) == 0
    log.append("\(index): \(refreshes ? "refresh" : "merge \(member.missed.count)")")
    member.context.performAndWait {
      if refreshes { member.context.refreshAllObjects() } else { for note in member.missed { merge(note, member) } }
    }
    unordered.formUnion(shared.listsWithMembers(of: member.pending))
    if !forgetsMerges || member.missed.isEmpty { member.base = shared }
    member.missed = []
    // Comparing reads all.
    let compares = readsAll || Int.random(in: 0..<4, using: &random) == 0
    return compares ? try disagreement(member) : nil
  }

  private func merge(_ note: Notification, _ member: Member) {
    guard kind == .coordinators else { return member.context.mergeChanges(fromContextDidSave: note) }
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: note.userInfo ?? [:], into: [member.context])
  }

  private func saveRoot() throws {
    guard let root else { return }
    log.append("save root")
    stored = shared
    try root.performAndWait { try root.save() }
  }

  /// Deletes an object while no other change is pending: a conflict about a deletion has rules of its own.
  private func delete(_ index: Int) throws {
    let member = members[index]
    guard members.allSatisfy(\.isQuiet) else { return }
    let numbers = member.reference.kinds.keys.sorted().filter { !member.reference.note.values.contains($0) }
    guard let number = numbers.randomElement(using: &random) else { return }
    log.append("\(index): delete \(number)")
    try member.context.performAndWait { member.context.delete(try object(number, member)) }
    shared.delete(number)
    let seen = member.keeper.notifications.count
    try member.context.performAndWait { try member.context.save() }
    let saved = member.keeper.notifications[seen...].filter { $0.name == .NSManagedObjectContextDidSave }
    if root == nil { stored = shared }
    for one in members {
      if one !== member { one.context.performAndWait { for note in saved { merge(note, one) } } }
      one.base = shared
      one.held = one.held.filter { shared.kinds[$0.key] != nil }
      if readsAll { _ = try disagreement(one) }
    }
  }

  // MARK: Changes

  private func change(_ index: Int) throws {
    let member = members[index]
    let before = member.reference
    guard let node = before.nodes.randomElement(using: &random) else { return }
    let isNone = Int.random(in: 0..<4, using: &random) == 0
    let other = before.nodes.randomElement(using: &random)
    let key =
      ["partner", "partner", "parent", "note", "box", "box", "friends", "tags", "ranked"]
      .randomElement(using: &random) ?? "box"
    let kinds: [GraphReference.Kind] = key == "box" ? [.box] : [.tag]
    let far =
      ["partner", "parent", "friends"].contains(key) ? other : before.numbers(kinds[0]).randomElement(using: &random)
    if far == nil, !["partner", "parent", "note", "box"].contains(key) { return }
    var after = before
    after.toggle(node, key, to: isNone ? nil : far, far: far)
    let changes = before.changes(to: after)
    // What was changed since the last save or merge is left alone: a value that is set back may count as a change.
    guard !changes.isEmpty, !changes.contains(where: { change in member.pending.contains { $0.concerns(change) } })
    else { return }
    log.append("\(index): \(node).\(key) ~ \(far.map(String.init) ?? "nil")\(isNone ? " (none)" : "")")
    member.pending += changes
    try member.context.performAndWait {
      let object = try object(key == "ranked" ? far ?? 0 : node, member)
      switch key {
      case "friends", "tags", "ranked":
        let value = try self.object(key == "ranked" ? node : far ?? 0, member)
        let isThere = before.related(key == "ranked" ? far ?? 0 : node, key).contains(key == "ranked" ? node : far ?? 0)
        if isThere {
          object.removeRelatedObjects([value], forKey: key)
        } else {
          object.addRelatedObjects([value], forKey: key)
        }
      default: object.setValue(isNone ? nil : try far.map { try self.object($0, member) }, forKey: key)
      }
    }
  }

  private func object(_ number: Int, _ member: Member) throws -> NSManagedObject {
    if let known = member.held[number], known.managedObjectContext != nil { return known }
    let kind = try #require(member.reference.kinds[number])
    let found = try LinkedGraph.find(kind.rawValue, number, in: member.context)
    member.held[number] = found
    return found
  }

  // MARK: Comparing

  private func disagreement(_ member: Member) throws -> String? {
    let reference = member.reference
    let index = members.firstIndex { $0 === member } ?? 0
    return try member.context.performAndWait {
      for (number, kind) in reference.kinds.sorted(by: { $0.key < $1.key }) {
        let object = try object(number, member)
        for key in GraphReference.keys(kind) {
          var (found, expected) = (LinkedGraph.numbers(object, key), reference.related(number, key))
          if unordered.contains("\(key) \(number)") { (found, expected) = (found.sorted(), expected.sorted()) }
          if found != expected { return "\(index): \(number).\(key) is \(found), expected \(expected)\(history)" }
        }
      }
      return nil
    }
  }

  private var history: String { "\nafter " + log.suffix(70).joined(separator: "; ") }
}
