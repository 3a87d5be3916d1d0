import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules: a chain of contexts behaves as its definition says after any sequence of operations, and everything that
// follows a bulk insertion is the same as after single insertions. Random sequences run on the real chain and on a
// reference of dictionaries; a failure reports the seed.

@Suite("Any sequence of operations on a chain", .overBothStores, .seeded)
struct ChainFuzzTests {
  @Test(
    "The chain and its reference agree step by step, and both ways leave equal stores",
    arguments: Randomness.seeds(2, long: 300))
  func agreement(seed: UInt64) throws {
    let folder = try TemporaryFolder()
    let dumps = try InsertionWay.allCases.map { way in
      let stack = try Stack(folder, "\(way.rawValue).sqlite")
      try ChainPlayer(stack, way, seed: seed).play(steps: 120)
      return try stack.dump()
    }
    #expect(dumps[0] == dumps[1], "seed \(seed): bulk and single insertion left different stores")
  }

  @Test("The reference can fail: one value of it changed is noticed")
  func canary() throws {
    let folder = try TemporaryFolder()
    let stack = try Stack(folder)
    let player = ChainPlayer(stack, .bulk, seed: 3)
    try player.play(steps: 40)
    #expect(try player.disagreement() == nil)
    let name = try #require(player.reference.shown(0).first?.name)
    player.reference.edit(name, place: "elsewhere", rating: nil, at: 0)
    #expect(try player.disagreement() != nil)
  }
}

/// Plays random operations on a chain of three and on its reference.
private final class ChainPlayer {
  private let stack: Stack
  private let way: InsertionWay
  private let seed: UInt64
  private var random: SeededGenerator
  private let contexts: [NSManagedObjectContext]
  var reference = ChainReference(levels: 3)
  private var nextName = 0
  private var log: [String] = []
  private var hasObtained = false

  init(_ stack: Stack, _ way: InsertionWay, seed: UInt64) {
    self.stack = stack
    self.way = way
    self.seed = seed
    random = SeededGenerator(seed: seed)
    let (writer, middle, child) = stack.chain()
    contexts = [child, middle, writer]
  }

  func play(steps: Int) throws {
    for _ in 0..<steps {
      let level = Int.random(in: 0..<3, using: &random)
      let context = contexts[level]
      try context.performAndWait { try step(context, level) }
      if let difference = try disagreement() {
        Issue.record("seed \(seed), \(way): after \(log.suffix(12).joined(separator: "; ")):\n\(difference)")
        return
      }
    }
    for level in 0..<3 {
      reference.save(level)
      try contexts[level].performAndWait { try contexts[level].save() }
    }
    let expected = reference.shown(3).map { "\($0.session.place)|\($0.session.rating.map(String.init) ?? "")" }
    let found = try stack.sqlite("SELECT ZPLACE, ZRATING FROM ZSESSION ORDER BY Z_PK")
      .split(separator: "\n").map(String.init)
    // Keys obtained early go before those of rows saved earlier.
    if hasObtained {
      #expect(found.sorted() == expected.sorted(), "seed \(seed)")
    } else {
      #expect(found == expected, "seed \(seed)")
    }
  }

  private func step(_ context: NSManagedObjectContext, _ level: Int) throws {
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<6: insert(context, level)
    case 6..<10: try edit(context, level)
    case 10..<12: try delete(context, level)
    case 12..<17:
      log.append("save \(level)")
      reference.save(level)
      try context.save()
    case 17 where reference.levels[..<level].allSatisfy({ !$0.hasChanges }):
      log.append("rollback \(level)")
      reference.rollback(level)
      context.rollback()
    case 18 where reference.levels[..<level].allSatisfy({ !$0.hasChanges }):
      log.append("reset \(level)")
      reference.rollback(level)
      context.reset()
    default:
      // By place, as sets have no order that two runs share.
      let objects = context.insertedObjects.sorted { ($0.place ?? "") < ($1.place ?? "") }
      log.append("obtain some of \(objects.count) at \(level)")
      hasObtained = hasObtained || !objects.isEmpty
      let chosen = Set(objects.indices.filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
      try context.obtainPermanentIDs(for: chosen.sorted().map { objects[$0] })
    }
  }

  private func insert(_ context: NSManagedObjectContext, _ level: Int) {
    let count = Int.random(in: 1...6, using: &random)
    log.append("insert \(count) at \(level)")
    way.insert(nextName..<(nextName + count), into: context, stack.entity)
    for name in nextName..<(nextName + count) {
      reference.insert(name, .init(place: "Spot \(name)", rating: name % 5 + 1), at: level)
    }
    nextName += count
  }

  /// An object that no level above has changes of, as `level` shows it.
  private func pick(_ context: NSManagedObjectContext, _ level: Int) throws -> (Int, NSManagedObject)? {
    let shown = reference.shown(level)
    guard !shown.isEmpty else { return nil }
    let index = Int.random(in: 0..<shown.count, using: &random)
    guard !reference.touchedAbove(level).contains(shown[index].name) else { return nil }
    let request = stack.request()
    request.predicate = NSPredicate(format: "place == %@", shown[index].session.place)
    let found = try context.fetch(request)
    try #require(found.count == 1, "seed \(seed): \(found.count) objects at \(shown[index].session.place)")
    return (shown[index].name, found[0])
  }

  private func edit(_ context: NSManagedObjectContext, _ level: Int) throws {
    guard let (name, object) = try pick(context, level) else { return }
    let place: String? = Bool.random(using: &random) ? "Edit \(random.next() % 100_000) of \(name)" : nil
    let rating: Int?? = Bool.random(using: &random) ? .some(Bool.random(using: &random) ? 3 : nil) : nil
    log.append("edit \(name) at \(level): \(place ?? "") \(rating.map { "\($0 ?? -1)" } ?? "")")
    if let place { object.setValue(place, forKey: "place") }
    if let rating { object.setValue(rating, forKey: "rating") }
    if place != nil || rating != nil { reference.edit(name, place: place, rating: rating, at: level) }
  }

  private func delete(_ context: NSManagedObjectContext, _ level: Int) throws {
    guard let (name, object) = try pick(context, level) else { return }
    log.append("delete \(name) at \(level)")
    context.delete(object)
    reference.delete(name, at: level)
  }

  /// What differs between the chain and the reference, nil if nothing does.
  func disagreement() throws -> String? {
    for (level, context) in contexts.enumerated() {
      let found = try context.performAndWait { try Self.lookAt(context, stack) }
      let here = reference.levels[level]
      let shown = reference.shown(level)
      let expected = Look(
        // Rows that were updated keep their place; which of the pending come last depends on the level.
        sessions: shown.map(\.session).sorted { $0.place < $1.place },
        counts: [here.inserted.count, here.updated.count, here.deleted.count], good: Self.good(shown.map(\.session)),
        goodCount: shown.count { ($0.session.rating ?? 0) >= 3 }, hasChanges: here.hasChanges)
      if found != expected { return "level \(level): \(found) instead of \(expected)" }
    }
    return nil
  }

  private struct Look: Equatable {
    var sessions: [ChainReference.Session]
    var counts: [Int]
    var good: [String]
    var goodCount: Int
    var hasChanges: Bool
  }

  /// The third to the sixth place with a rating of three or more, the best first.
  private static func good(_ sessions: [ChainReference.Session]) -> [String] {
    let good = sessions.filter { ($0.rating ?? 0) >= 3 }
    let sorted = good.sorted { ($1.rating ?? 0, $0.place) < ($0.rating ?? 0, $1.place) }
    return sorted.dropFirst(2).prefix(4).map(\.place)
  }

  private static func lookAt(_ context: NSManagedObjectContext, _ stack: Stack) throws -> Look {
    let sessions = try context.fetch(stack.request()).map {
      ChainReference.Session(place: $0.place ?? "nil", rating: $0.value(forKey: "rating") as? Int)
    }
    let request = stack.request()
    request.predicate = NSPredicate(format: "rating >= 3")
    let goodCount = try context.count(for: request)
    request.sortDescriptors = [
      NSSortDescriptor(key: "rating", ascending: false), NSSortDescriptor(key: "place", ascending: true),
    ]
    request.fetchLimit = 4
    request.fetchOffset = 2
    return Look(
      sessions: sessions.sorted { $0.place < $1.place },
      counts: [context.insertedObjects.count, context.updatedObjects.count, context.deletedObjects.count],
      good: try context.fetch(request).compactMap(\.place), goodCount: goodCount, hasChanges: context.hasChanges)
  }
}
