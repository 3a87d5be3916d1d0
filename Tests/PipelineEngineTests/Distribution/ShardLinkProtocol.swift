/// The protocol by which workers create what their records lead to, as a state machine: every interleaving of their
/// statements, with kills at any of them and answers to COMMIT that get lost.
///
/// A worker reads which of the objects that its chunk names are known. Its transaction takes the names that are new, notes
/// the records that come before those from which objects were created, writes the objects and the links, and commits.
struct ShardLinkProtocol {
  /// A rule that is left out, or kept in another way.
  enum Variant: CaseIterable {
    /// As the program does it.
    case complete
    /// An object is created although another worker has created it since the names were read.
    case withoutUniqueness
    /// The names are committed in a transaction of their own, before the objects.
    case namesInOwnTransaction
    /// Workers take names in the order of their records.
    case orderOfRecords
    /// A record that comes before the one from which an object was created leaves its values.
    case firstComerIsFirst
  }

  struct Findings: Equatable {
    var states = 0
    /// Ends in which a link leads to no object, or is missing.
    var lost = 0
    /// Ends in which a name has several objects.
    var doubled = 0
    /// Ends in which an object has other values than those of the first record that names it.
    var wrong = 0
    /// States in which all wait.
    var stuck = 0
    var isSafe: Bool { lost + doubled + wrong + stuck == 0 }
  }

  private enum Step: Hashable {
    case read
    /// The number of names that are taken.
    case take(Int)
    case writeObjects, commit, done, killed
  }

  /// An object, by the worker that has created it.
  private struct Object: Hashable {
    let name: Int
    let creator: Int
  }

  /// What workers know of a name.
  private struct Known: Hashable {
    let object: Object
    /// The order of the record whose values the object gets.
    var first: Int
  }

  private struct Worker: Hashable {
    var step = Step.read
    /// What it has read.
    var known: [Int: Known] = [:]
  }

  private struct State: Hashable {
    var names: [Int: Known] = [:]
    var objects: Set<Object> = []
    /// By the order of the record.
    var links: [Int: Object] = [:]
    /// The worker that holds the row of a name.
    var holders: [Int: Int] = [:]
    var workers: [Worker]
    /// Whether the checkpoint of each shard is at its end.
    var isSaved: [Bool]
    var killsLeft: Int
  }

  /// A record of a shard: the object that it names, and its order among all.
  struct Record: Hashable, Sendable {
    let name: Int
    let order: Int
  }

  let variant: Variant
  /// The records of the chunk of each worker; one record for a name.
  var chunks = [
    [Record(name: 2, order: 1), Record(name: 1, order: 2)], [Record(name: 1, order: 3), Record(name: 2, order: 4)],
    [Record(name: 1, order: 5)],
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
    for record in records {
      if state.links[record.order].map(state.objects.contains) != true { findings.lost += 1 }
    }
    for name in Set(records.map(\.name)) {
      if state.objects.count(where: { $0.name == name }) > 1 { findings.doubled += 1 }
      let first = records.filter { $0.name == name }.map(\.order).min()
      if state.names[name]?.first != first { findings.wrong += 1 }
    }
  }

  /// The records of a chunk in the order in which their names are taken: new ones first.
  private func taken(_ index: Int, _ worker: Worker) -> [Record] {
    if variant == .orderOfRecords { return chunks[index] }
    func place(_ record: Record) -> (Int, Int) { (worker.known[record.name] == nil ? 0 : 1, record.name) }
    return chunks[index].sorted { place($0) < place($1) }
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
        own.known = state.names.filter { name, _ in chunks[index].contains { $0.name == name } }
        own.step = state.isSaved[index] ? .done : .take(0)
      }
    case .take(let number): take(number, in: state, worker: index, add)
    case .writeObjects:
      add { next, own in
        writeNames(&next, index)
        own.step = .commit
      }
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
    let records = taken(index, worker)
    guard number < records.count else {
      return add { _, own in own.step = variant == .namesInOwnTransaction ? .writeObjects : .commit }
    }
    let record = records[number]
    let known = worker.known[record.name]
    let isNew = known == nil
    // A name that is known is written only by a record that comes before its first one.
    let isWritten = isNew || known.map { record.order < $0.first } == true && variant != .firstComerIsFirst
    if !isWritten || isNew && variant == .withoutUniqueness {
      return add { _, own in own.step = .take(number + 1) }
    }
    // Otherwise it waits for the row.
    if let holder = state.holders[record.name], holder != index { return }
    add { next, own in
      if isNew, state.names[record.name] != nil {
        next.holders = state.holders.filter { $0.value != index }
        own = Worker()
      } else {
        next.holders[record.name] = index
        own.step = .take(number + 1)
      }
    }
  }

  private func object(of record: Record, _ worker: Worker, _ index: Int) -> Object {
    worker.known[record.name]?.object ?? Object(name: record.name, creator: index)
  }

  private func writeNames(_ next: inout State, _ index: Int) {
    let worker = next.workers[index]
    for record in chunks[index] {
      if worker.known[record.name] == nil {
        next.names[record.name] = Known(object: object(of: record, worker, index), first: record.order)
      } else if variant != .firstComerIsFirst, let present = next.names[record.name] {
        // The server compares with what it has now.
        next.names[record.name]?.first = min(present.first, record.order)
      }
    }
    next.holders = next.holders.filter { $0.value != index }
  }

  private func writeObjects(_ next: inout State, _ index: Int) {
    let worker = next.workers[index]
    for record in chunks[index] {
      let object = object(of: record, worker, index)
      if worker.known[record.name] == nil { next.objects.insert(object) }
      next.links[record.order] = object
    }
    next.isSaved[index] = true
  }

  private func commit(_ state: State, worker index: Int, _ add: Change) {
    // Its answer may be lost, and the transaction committed or not; the worker reads again in any case.
    for isCommitted in [true, false] {
      add { next, own in
        if isCommitted {
          if variant != .namesInOwnTransaction { writeNames(&next, index) }
          writeObjects(&next, index)
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
