/// The protocol by which workers compare keys, as a state machine: every interleaving of their statements, with kills at any
/// of them and answers to COMMIT that get lost.
///
/// A worker reads the keys of its chunk, decides what becomes of its records, and sends a transaction: it takes the keys
/// that it changes, if they are as they were read, and those that are new, writes the entries, and commits.
struct ShardKeyProtocol {
  /// A rule that is left out, or kept in another way.
  enum Variant: CaseIterable {
    /// As the program does it.
    case complete
    /// A key is changed although another worker has changed it since it was read.
    case withoutVersion
    /// A new key is inserted although another worker has inserted it.
    case withoutUniqueness
    /// The last worker decides about the values, and not the order of the records.
    case orderOfArrival
    /// The keys are committed in a transaction of their own, before the entries.
    case keysInOwnTransaction
    /// Workers take keys in the order of their records.
    case orderOfRecords
    /// A record that comes before those that are there already leaves the values of the first one.
    case firstComerIsFirst
  }

  struct Findings: Equatable {
    var states = 0
    /// Ends in which a key has no entry, or several.
    var lost = 0
    var doubled = 0
    /// Ends in which an entry has values that an import on one machine would not give it.
    var wrong = 0
    /// States in which all wait.
    var stuck = 0
    var isSafe: Bool { lost + doubled + wrong + stuck == 0 }
  }

  private enum Step: Hashable {
    case read
    /// The number of keys that are taken.
    case take(Int)
    case writeEntries, commit, done, killed
  }

  private struct Key: Hashable {
    var version = 1
    var first: Int
    var last: Int
  }

  /// The records whose values an entry has.
  private struct Entry: Hashable {
    var key: Int
    var first: Int
    var last: Int
  }

  private struct Worker: Hashable {
    var step = Step.read
    /// What it has read.
    var known: [Int: Key] = [:]
  }

  private struct State: Hashable {
    var keys: [Int: Key] = [:]
    /// The entries, in no order.
    var entries: [Entry: Int] = [:]
    /// The worker that holds the row of a key.
    var holders: [Int: Int] = [:]
    var workers: [Worker]
    /// Whether the checkpoint of each shard is at its end.
    var isSaved: [Bool]
    var killsLeft: Int
  }

  /// A record of a shard: its key, and its order among all.
  struct Record: Hashable, Sendable {
    let key: Int
    let order: Int
  }

  let variant: Variant
  /// The records of the chunk of each worker; one record for a key.
  var chunks = [
    [Record(key: 2, order: 1), Record(key: 1, order: 2)], [Record(key: 1, order: 3), Record(key: 2, order: 4)],
    [Record(key: 1, order: 5)],
  ]
  var killsMax = 2

  /// Visits all states that can be reached.
  func explore() -> Findings {
    let start = State(
      workers: chunks.map { _ in Worker() }, isSaved: chunks.map { _ in false }, killsLeft: killsMax)
    var findings = Findings()
    findings.states = visitStates(from: start) { state in
      if state.workers.allSatisfy({ $0.step == .done }) {
        check(state, &findings)
        return []
      }
      let next = chunks.indices.flatMap { successors(of: state, worker: $0) }
      if next.isEmpty { findings.stuck += 1 }
      return next
    }
    return findings
  }

  private func check(_ state: State, _ findings: inout Findings) {
    let records = chunks.joined()
    for key in Set(records.map(\.key)) {
      let orders = records.filter { $0.key == key }.map(\.order)
      let entries = state.entries.filter { $0.key.key == key }
      let count = entries.values.reduce(0, +)
      if count == 0 { findings.lost += 1 }
      if count > 1 { findings.doubled += 1 }
      guard let entry = entries.first?.key, count == 1 else { continue }
      if entry.first != orders.min() || entry.last != orders.max() { findings.wrong += 1 }
    }
  }

  /// The records of a chunk in the order in which their keys are taken.
  private func taken(_ index: Int) -> [Record] {
    variant == .orderOfRecords ? chunks[index] : chunks[index].sorted { $0.key < $1.key }
  }

  private func successors(of state: State, worker index: Int) -> [State] {
    let worker = state.workers[index]
    var result: [State] = []
    func add(_ change: (inout State, inout Worker) -> Void) {
      var (next, own) = (state, worker)
      change(&next, &own)
      next.workers[index] = own
      result.append(next)
    }
    switch worker.step {
    case .read:
      add { _, own in
        own.known = state.keys.filter { key, _ in chunks[index].contains { $0.key == key } }
        own.step = state.isSaved[index] ? .done : .take(0)
      }
    case .take(let number): take(number, in: state, worker: index, add)
    case .writeEntries: commitKeys(state, worker: index, add)
    case .commit: commit(state, worker: index, add)
    case .done: return []
    case .killed: add { _, own in own = Worker() }
    }
    if state.killsLeft > 0, worker.step != .killed {
      add { next, own in
        // The server rolls its transaction back.
        next.holders = state.holders.filter { $0.value != index }
        next.killsLeft -= 1
        own = Worker(step: .killed)
      }
    }
    return result
  }

  private typealias Change = ((inout State, inout Worker) -> Void) -> Void

  private func take(_ number: Int, in state: State, worker index: Int, _ add: Change) {
    let worker = state.workers[index]
    let records = taken(index)
    guard number < records.count else {
      return add { _, own in own.step = variant == .keysInOwnTransaction ? .writeEntries : .commit }
    }
    let key = records[number].key
    let isNew = worker.known[key] == nil
    if isNew, variant == .withoutUniqueness { return add { _, own in own.step = .take(number + 1) } }
    // Otherwise it waits for the row.
    if let holder = state.holders[key], holder != index { return }
    let isAsRead = state.keys[key]?.version == worker.known[key]?.version
    add { next, own in
      if isAsRead || !isNew && variant == .withoutVersion {
        next.holders[key] = index
        own.step = .take(number + 1)
      } else {
        next.holders = state.holders.filter { $0.value != index }
        own = Worker()
      }
    }
  }

  private func changed(_ known: Key?, by record: Record) -> Key {
    guard var key = known else { return Key(first: record.order, last: record.order) }
    key.version += 1
    key.last = variant == .orderOfArrival ? record.order : max(key.last, record.order)
    key.first = variant == .firstComerIsFirst ? key.first : min(key.first, record.order)
    return key
  }

  private func writeKeys(_ next: inout State, _ index: Int) {
    for record in chunks[index] { next.keys[record.key] = changed(next.workers[index].known[record.key], by: record) }
    next.holders = next.holders.filter { $0.value != index }
  }

  private func writeEntries(_ next: inout State, _ index: Int) {
    for record in chunks[index] {
      let known = next.workers[index].known[record.key]
      let now = changed(known, by: record)
      if known != nil {
        // An update changes the entry that is there, whatever it has become, and makes none.
        guard let old = next.entries.keys.first(where: { $0.key == record.key }) else { continue }
        next.entries[old] = nil
      }
      next.entries[Entry(key: record.key, first: now.first, last: now.last), default: 0] += 1
    }
    next.isSaved[index] = true
  }

  private func commitKeys(_ state: State, worker index: Int, _ add: Change) {
    add { next, own in
      writeKeys(&next, index)
      own.step = .commit
    }
  }

  private func commit(_ state: State, worker index: Int, _ add: Change) {
    // Its answer may be lost, and the transaction committed or not; the worker reads again in any case.
    for isCommitted in [true, false] {
      add { next, own in
        if isCommitted {
          if variant != .keysInOwnTransaction { writeKeys(&next, index) }
          writeEntries(&next, index)
        } else {
          next.holders = state.holders.filter { $0.value != index }
          // A lost answer is as rare as a kill.
          next.killsLeft -= 1
        }
        own = Worker()
      }
      if state.killsLeft == 0 { break }
    }
  }
}
