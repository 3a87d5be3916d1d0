import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

/// Plays random operations on contexts of its own and on objects that no other worker changes, and keeps a reference of
/// what they come to. It belongs to one thread.
final class StressWorker {
  private let number: Int
  private let board: StressBoard
  private var random: SeededGenerator
  /// What the worker's contexts save to; nil: the coordinator.
  private let parent: NSManagedObjectContext?
  /// The import context first.
  private var contexts: [NSManagedObjectContext] = []
  /// Whether others save into the worker's context: then it must not be emptied.
  private let isShared: Bool
  private var observers: [any NSObjectProtocol] = []
  /// The rows counted up, by their number. They are held, so their values grow old when others count.
  private var counted: [Int: NSManagedObject] = [:]
  private var reference: ChainReference
  private var nextName = 0
  private var nextEdition = 0

  private var stack: Stack { board.stack }
  private var levels: Int { contexts.count }
  private var prefix: String { "w\(number)-" }
  private var place: Comment { "seed \(board.seed), worker \(number)" }

  /// A worker with a chain of its own on `parent` or on the coordinator.
  init(_ number: Int, _ board: StressBoard, on parent: NSManagedObjectContext?, levels: Int) {
    self.number = number
    self.board = board
    self.parent = parent
    isShared = false
    random = SeededGenerator(seed: board.seed &* 1000 &+ UInt64(number))
    reference = ChainReference(levels: levels)
    makeContexts(levels)
  }

  /// A worker in a context that others use as a parent.
  init(_ number: Int, _ board: StressBoard, playing context: NSManagedObjectContext) {
    self.number = number
    self.board = board
    parent = context.parent
    isShared = true
    random = SeededGenerator(seed: board.seed &* 1000 &+ UInt64(number))
    reference = ChainReference(levels: 1)
    contexts = [context]
    observe(context)
  }

  deinit { forgetObservers() }

  // MARK: Contexts

  private func makeContexts(_ count: Int) {
    forgetObservers()
    contexts = []
    var below = parent
    for _ in 0..<count {
      let context = stack.context(below)
      configure(context, isAlone: count == 1)
      observe(context)
      contexts.insert(context, at: 0)
      below = context
    }
  }

  private static var policies: [NSMergePolicy] {
    [NSErrorMergePolicy, NSRollbackMergePolicy] + winners
  }
  /// Under these a save never fails for a conflict, and something of it stays.
  private static var winners: [NSMergePolicy] {
    [NSMergeByPropertyStoreTrumpMergePolicy, NSMergeByPropertyObjectTrumpMergePolicy, NSOverwriteMergePolicy]
  }

  /// Settings that must not make a difference.
  private func configure(_ context: NSManagedObjectContext, isAlone: Bool) {
    if Bool.random(using: &random) { context.changeNotificationContents = .objectIDs }
    // No other worker changes the worker's objects.
    context.mergePolicy = Self.policies.randomElement(using: &random) ?? NSErrorMergePolicy
    // What it retains grows stale when a level below is edited.
    context.automaticallyMergesChangesFromParent = Bool.random(using: &random)
    if isAlone { context.retainsRegisteredObjects = Bool.random(using: &random) }
  }

  /// Listens as an app does: touches the objects on their queue, and passes IDs on to other threads.
  private func observe(_ context: NSManagedObjectContext) {
    let (board, prefix) = (board, prefix)
    let center = NotificationCenter.default
    observers.append(
      center.addObserver(forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil) { note in
        guard let objects = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> else { return }
        // What was merged may be gone from the store by now.
        for object in objects where object.place == nil && !object.isDeleted {
          Issue.record("an inserted object has no place")
        }
      })
    guard !isShared else { return }
    board.introduce(context, of: number)
    observers.append(
      center.addObserver(forName: .NSManagedObjectContextDidSave, object: context, queue: nil) { [number] note in
        // The worker's own contexts could be notified of what a dropped one never brought to the store.
        board.anyContext(notOf: number)?.mergeLater(PassedNote(note: note))
      })
    observers.append(
      center.addObserver(forName: .NSManagedObjectContextDidSaveObjectIDs, object: context, queue: nil) { note in
        let inserted = note.userInfo?[NSInsertedObjectIDsKey]
        guard let id = (inserted as? ObjectIDCollection)?.first ?? (inserted as? Set<NSManagedObjectID>)?.first
        else { return }
        board.send(.init(id: id, prefix: prefix))
      })
  }

  private func forgetObservers() {
    for observer in observers { NotificationCenter.default.removeObserver(observer) }
    observers = []
  }

  // MARK: Playing

  func step() throws {
    let level = Int.random(in: 0..<levels, using: &random)
    let context = contexts[level]
    let isTop = reference.levels[..<level].allSatisfy { !$0.hasChanges }
    let deleted = reference.levels[level].deleted
    defer { followGround(above: level, isRestored: !deleted.isSubset(of: reference.levels[level].deleted) && isTop) }
    try context.performAndWait {
      switch Int.random(in: 0..<31, using: &random) {
      case 0..<5: insert(context, level)
      case 5..<10: try edit(context, level)
      case 10..<12: try delete(context, level)
      case 12..<15: try save(context, level)
      case 15 where isTop && !isShared:
        reference.rollback(level)
        context.rollback()
      case 16 where isTop && !isShared:
        reference.rollback(level)
        context.reset()
      case 17: try obtainIDs(context)
      case 18: if let (_, object) = try pick(context, level) { context.refresh(object, mergeChanges: true) }
      case 19: context.refreshAllObjects()
      case 20..<22: try compare(context, level)
      case 22..<24: try readForeign(context)
      case 24: try walk(context)
      case 25: saveParent()
      case 26..<28 where parent == nil && level == levels - 1: try countUp(context)
      case 28... where parent == nil && level == levels - 1: try fight(context)
      default: break
      }
    }
    // Dropped with all that is pending in them.
    if !isShared, Int.random(in: 0..<40, using: &random) == 0 {
      for level in 0..<levels { reference.rollback(level) }
      makeContexts(levels)
    }
  }

  /// What the levels above hold grows old when a level below changes, and a notification that another thread has not
  /// merged yet may hold it. An object that was read while it was deleted below stays deleted above.
  private func followGround(above level: Int, isRestored: Bool) {
    for context in contexts[..<level] {
      context.performAndWait { if isRestored { context.reset() } else { context.refreshAllObjects() } }
    }
  }

  /// Saves all levels. What the worker's objects should be in the store: `place|rating`.
  func finish() throws -> [String] {
    for level in 0..<levels { try contexts[level].performAndWait { try save(contexts[level], level) } }
    try contexts[levels - 1].performAndWait { try compare(contexts[levels - 1], levels - 1) }
    return reference.shown(levels).map { "\($0.session.place)|\($0.session.rating.map(String.init) ?? "")" }
  }

  private func name(_ name: Int) -> String {
    nextEdition += 1
    return "\(prefix)\(name)-\(nextEdition)"
  }

  private func insert(_ context: NSManagedObjectContext, _ level: Int) {
    let names = nextName..<(nextName + Int.random(in: 1...5, using: &random))
    nextName = names.upperBound
    let sessions = names.map { ChainReference.Session(place: name($0), rating: $0 % 5 + 1) }
    for (name, session) in zip(names, sessions) { reference.insert(name, session, at: level) }
    if Bool.random(using: &random) {
      var batch = ObjectBatch(entity: stack.entity)
      for session in sessions {
        batch.appendRow()
        batch.setText(session.place, at: 1)
        batch.setInteger(Int64(session.rating ?? 0), at: 2)
      }
      context.insert(batch)
    } else {
      for session in sessions {
        let object = NSManagedObject.make(stack.entity, in: context)
        object.setValue(session.place, forKey: "place")
        object.setValue(session.rating, forKey: "rating")
        board.send(.init(id: object.objectID, prefix: prefix))
      }
    }
  }

  /// An object of the worker's own that no level above has changes of.
  private func pick(_ context: NSManagedObjectContext, _ level: Int) throws -> (Int, NSManagedObject)? {
    let touched = reference.touchedAbove(level)
    guard let chosen = reference.shown(level).filter({ !touched.contains($0.name) }).randomElement(using: &random)
    else { return nil }
    let request = stack.request()
    request.predicate = NSPredicate(format: "place == %@", chosen.session.place)
    request.returnsObjectsAsFaults = Bool.random(using: &random)
    request.fetchBatchSize = Int.random(in: 0...2, using: &random)
    let found = try context.fetch(request)
    try #require(found.count == 1, "\(place): \(found.count) objects at \(chosen.session.place)")
    return (chosen.name, found[0])
  }

  private func edit(_ context: NSManagedObjectContext, _ level: Int) throws {
    guard let (name, object) = try pick(context, level) else { return }
    let (place, rating) = (self.name(name), Int.random(in: 1...5, using: &random))
    object.setValue(place, forKey: "place")
    object.setValue(rating, forKey: "rating")
    reference.edit(name, place: place, rating: .some(rating), at: level)
  }

  private func delete(_ context: NSManagedObjectContext, _ level: Int) throws {
    guard let (name, object) = try pick(context, level) else { return }
    context.delete(object)
    reference.delete(name, at: level)
  }

  private func save(_ context: NSManagedObjectContext, _ level: Int) throws {
    try context.save()
    reference.save(level)
  }

  private func obtainIDs(_ context: NSManagedObjectContext) throws {
    // Only the worker's own: in a shared context others may be at theirs.
    let objects = context.insertedObjects.filter { $0.place?.hasPrefix(prefix) ?? false }
    try context.obtainPermanentIDs(for: objects.filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
  }

  /// A save of the common parent saves what all have put into it.
  private func saveParent() {
    guard let parent else { return }
    let place = place
    parent.perform {
      do { try parent.save() } catch { Issue.record(error, place) }
    }
  }

  // MARK: Looking

  private func compare(_ context: NSManagedObjectContext, _ level: Int) throws {
    let request = stack.request()
    request.predicate = NSPredicate(format: "place BEGINSWITH %@", prefix)
    let expected = reference.shown(level).map(\.session).sorted { $0.place < $1.place }
    if Bool.random(using: &random) {
      #expect(try context.count(for: request) == expected.count, place)
      return
    }
    let found = try context.fetch(request).map {
      ChainReference.Session(place: $0.place ?? "", rating: $0.value(forKey: "rating") as? Int)
    }
    #expect(found.sorted { $0.place < $1.place } == expected, place)
  }

  /// An ID shows the object that it was made for, wherever it went; or there is none any more, or not yet.
  private func readForeign(_ context: NSManagedObjectContext) throws {
    guard let letter = board.anyLetter(&random) else { return }
    do {
      let object =
        Bool.random(using: &random)
        ? try context.existingObject(with: letter.id) : context.object(with: letter.id)
      if let place = object.place {
        #expect(place.hasPrefix(letter.prefix), self.place)
      } else {
        #expect(object.isDeleted, place)
      }
    } catch let error as NSError where error.code == NSManagedObjectReferentialIntegrityError {}
  }

  /// One snapshot of the store has no place twice, however far the walk goes.
  private func walk(_ context: NSManagedObjectContext) throws {
    var seen: Set<String> = []
    var count = 0
    let end = Int.random(in: 1...200, using: &random)
    try context.walk(stack.request(), rowsPerBatch: 16) { batch, ids in
      for (row, _) in ids.enumerated() {
        guard case .text(let place) = batch.value(row: row, slot: 1) else { continue }
        seen.insert(place)
        count += 1
      }
      return count < end
    }
    #expect(seen.count == count, place)
  }

  /// Two who read the same number can't both write the next one: one of them gets an error.
  private func countUp(_ context: NSManagedObjectContext) throws {
    let index = Int.random(in: 0..<board.hot.count, using: &random)
    let object = try context.existingObject(with: board.hot[index])
    if Int.random(in: 0..<4, using: &random) == 0 { context.refresh(object, mergeChanges: false) }
    counted[index] = object
    let count = try #require(object.value(forKey: "rating") as? Int)
    object.setValue(count + 1, forKey: "rating")
    let policy = context.mergePolicy
    context.mergePolicy = NSErrorMergePolicy
    defer { context.mergePolicy = policy }
    do {
      try save(context, levels - 1)
      board.noteIncrement(index)
    } catch let error as NSError where error.code == NSManagedObjectMergeError {
      // The other changes are still there and go with a later save.
      context.refresh(object, mergeChanges: false)
    }
  }

  /// All write to one row, each under a policy of its own choice: every save succeeds, and the row holds what one of
  /// them wrote.
  private func fight(_ context: NSManagedObjectContext) throws {
    let object = try context.existingObject(with: board.contested)
    counted[-1] = object
    let policy = context.mergePolicy
    context.mergePolicy = Self.winners.randomElement(using: &random) ?? policy
    defer { context.mergePolicy = policy }
    let place = "fought over by \(name(nextName))"
    object.setValue(place, forKey: "place")
    board.noteAttempt(place)
    try save(context, levels - 1)
  }
}

/// A notification on its way to another queue.
// Unchecked: mergeChanges(fromContextDidSave:) is there to be handed the notifications of other queues' contexts.
struct PassedNote: @unchecked Sendable {
  let note: Notification
}

extension NSManagedObjectContext {
  func mergeLater(_ passed: PassedNote) { perform { self.mergeChanges(fromContextDidSave: passed.note) } }
}
