import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

/// A chain of contexts in a few lines: what each level shows after any sequence of insertions, edits, deletions,
/// saves and rollbacks, worked out with dictionaries alone. The real chain has to agree with it.
struct ChainReference {
  struct Session: Equatable {
    var place: String
    var rating: Int?
  }

  struct Level {
    /// Names of objects in order of insertion.
    var inserted: [Int] = []
    var values: [Int: Session] = [:]
    /// Objects of the levels below: their values here.
    var updated: [Int: Session] = [:]
    /// What they were when the first edit here began.
    var committed: [Int: Session] = [:]
    var deleted: Set<Int> = []

    var hasChanges: Bool { !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty }
  }

  /// The import context first, the one on the coordinator last.
  var levels: [Level]
  var stored: [Int: Session] = [:]
  /// In order of their keys.
  var storedOrder: [Int] = []

  init(levels count: Int) { levels = Array(repeating: Level(), count: count) }

  /// What `level` shows, in the order of a fetch without one.
  func shown(_ level: Int) -> [(name: Int, session: Session)] {
    guard level < levels.count else {
      return storedOrder.map { ($0, stored[$0, default: Session(place: "", rating: nil)]) }
    }
    let here = levels[level]
    let below = shown(level + 1).filter { !here.deleted.contains($0.name) }
      .map { (name: $0.name, session: here.updated[$0.name] ?? $0.session) }
    return below + here.inserted.compactMap { name in here.values[name].map { (name, $0) } }
  }

  mutating func insert(_ name: Int, _ session: Session, at level: Int) {
    levels[level].inserted.append(name)
    levels[level].values[name] = session
  }

  mutating func edit(_ name: Int, place: String?, rating: Int??, at level: Int) {
    guard var session = shown(level).first(where: { $0.name == name })?.session else { return }
    if let place { session.place = place }
    if let rating { session.rating = rating }
    if levels[level].values[name] != nil {
      levels[level].values[name] = session
    } else {
      if levels[level].updated[name] == nil {
        levels[level].committed[name] = shown(level).first { $0.name == name }?.session
      }
      levels[level].updated[name] = session
    }
  }

  mutating func delete(_ name: Int, at level: Int) {
    if levels[level].values.removeValue(forKey: name) != nil {
      levels[level].inserted.removeAll { $0 == name }
    } else {
      levels[level].updated[name] = nil
      levels[level].deleted.insert(name)
    }
  }

  mutating func save(_ level: Int) {
    let changes = levels[level]
    levels[level] = Level()
    for name in changes.inserted {
      guard let session = changes.values[name] else { continue }
      if level + 1 < levels.count {
        insert(name, session, at: level + 1)
      } else {
        stored[name] = session
        storedOrder.append(name)
      }
    }
    for (name, session) in changes.updated {
      if level + 1 < levels.count {
        let before = changes.committed[name]
        let place = before?.place == session.place ? nil : session.place
        let rating: Int?? = before?.rating == session.rating ? nil : .some(session.rating)
        // An object set back to what it was has nothing to hand over.
        if place != nil || rating != nil { edit(name, place: place, rating: rating, at: level + 1) }
      } else {
        stored[name] = session
      }
    }
    for name in changes.deleted {
      if level + 1 < levels.count {
        delete(name, at: level + 1)
      } else {
        stored[name] = nil
        storedOrder.removeAll { $0 == name }
      }
    }
  }

  mutating func rollback(_ level: Int) { levels[level] = Level() }

  /// Names that a level above `level` has changes of: what becomes of those when the ground under them moves is
  /// another suite's matter.
  func touchedAbove(_ level: Int) -> Set<Int> {
    levels[..<level].reduce(into: []) { $0.formUnion(Set($1.updated.keys).union($1.deleted)) }
  }
}
