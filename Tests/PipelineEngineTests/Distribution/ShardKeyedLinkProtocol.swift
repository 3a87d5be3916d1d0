/// The protocol by which workers of a plan with a key, whose records lead to objects, update entries and create objects, as a
/// state machine: every interleaving of their statements, with kills at any of them and answers to COMMIT that get lost.
///
/// An import with `update` takes the records one after the other: each creates what it names, and the last one with a key
/// decides where its entry leads. A worker reads the keys and names of its chunk. Its transaction takes the keys, if they
/// are as they were read, then the names of the objects that it creates, writes, and commits.
struct ShardKeyedLinkProtocol {
  /// A rule that is left out, or kept in another way.
  enum Variant: CaseIterable {
    /// As the program does it.
    case complete
    /// A record whose entry has the values of a later one creates nothing.
    case losersCreateNothing
    /// An entry leads where the worker says that comes last, and not the last record.
    case linkOfLastComer
    /// A key is changed although another worker has changed it since it was read.
    case withoutVersion
    /// Workers take the key and the name of one record after the other.
    case orderOfRecords
  }

  struct Findings: Equatable {
    var states = 0
    /// Ends in which an entry, or an object that a record names, is missing.
    var lost = 0
    /// Ends in which a key has several entries, or a name several objects.
    var doubled = 0
    /// Ends in which an entry leads elsewhere than after an import.
    var wrong = 0
    /// States in which all wait.
    var stuck = 0
    var isSafe: Bool { lost + doubled + wrong + stuck == 0 }
  }

  private enum Step: Hashable {
    case read
    /// The number of keys and names that are taken.
    case take(Int)
    case commit, done, killed
  }

  /// What a transaction locks, in the order in which workers do so.
  private enum Resource: Hashable {
    case key(Int), name(Int)
  }

  private struct Key: Hashable {
    var version = 1
    /// The order of the record that decides where the entry leads.
    var last: Int
  }

  private struct Worker: Hashable {
    var step = Step.read
    /// What it has read.
    var keys: [Int: Key] = [:]
    var names: Set<Int> = []
  }

  private struct State: Hashable {
    var keys: [Int: Key] = [:]
    /// How many entries each key has, and where they lead.
    var entries: [Int: Int] = [:]
    var links: [Int: Int] = [:]
    /// How many objects each name has.
    var objects: [Int: Int] = [:]
    /// The worker that holds a row.
    var holders: [Resource: Int] = [:]
    var workers: [Worker]
    /// Whether the checkpoint of each shard is at its end.
    var isSaved: [Bool]
    var killsLeft: Int
  }

  /// A record of a shard: its key, the object that it names, and its order among all.
  struct Record: Hashable, Sendable {
    let key: Int
    let name: Int
    let order: Int
  }

  let variant: Variant
  /// The records of the chunk of each worker; one record for a key, and one for a name.
  var chunks = [
    [Record(key: 2, name: 1, order: 1), Record(key: 1, name: 2, order: 2)],
    [Record(key: 1, name: 3, order: 3), Record(key: 2, name: 2, order: 4)],
    [Record(key: 1, name: 1, order: 5)],
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
    var (links, names): ([Int: Int], Set<Int>) = ([:], [])
    for record in chunks.joined().sorted(by: { $0.order < $1.order }) {
      links[record.key] = record.name
      names.insert(record.name)
    }
    let counts = links.keys.map { state.entries[$0] ?? 0 } + names.map { state.objects[$0] ?? 0 }
    findings.lost += counts.contains(0) ? 1 : 0
    findings.doubled += counts.contains { $0 > 1 } ? 1 : 0
    findings.wrong += links == state.links ? 0 : 1
  }

  /// Whether an entry leads where a record says from now on.
  private func decides(_ record: Record, _ worker: Worker) -> Bool {
    guard let known = worker.keys[record.key], variant != .linkOfLastComer else { return true }
    return record.order > known.last
  }

  private func creates(_ record: Record, _ worker: Worker) -> Bool {
    !worker.names.contains(record.name) && (variant != .losersCreateNothing || decides(record, worker))
  }

  /// What a chunk takes, in order: its keys, and the names of the objects that it creates.
  private func taken(_ index: Int, _ worker: Worker) -> [Resource] {
    func name(_ record: Record) -> [Resource] { creates(record, worker) ? [.name(record.name)] : [] }
    if variant == .orderOfRecords { return chunks[index].flatMap { [.key($0.key)] + name($0) } }
    return chunks[index].sorted { $0.key < $1.key }.map { .key($0.key) }
      + chunks[index].sorted { $0.name < $1.name }.flatMap(name)
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
        own.keys = state.keys.filter { key, _ in chunks[index].contains { $0.key == key } }
        own.names = Set(state.objects.keys).intersection(chunks[index].map(\.name))
        own.step = state.isSaved[index] ? .done : .take(0)
      }
    case .take(let number): take(number, in: state, worker: index, add)
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
    let resources = taken(index, worker)
    guard number < resources.count else { return add { _, own in own.step = .commit } }
    let resource = resources[number]
    // Otherwise it waits for the row.
    if let holder = state.holders[resource], holder != index { return }
    let isAsRead =
      switch resource {
      case .key(let key): state.keys[key]?.version == worker.keys[key]?.version || variant == .withoutVersion
      case .name(let name): state.objects[name] == nil
      }
    add { next, own in
      if isAsRead {
        next.holders[resource] = index
        own.step = .take(number + 1)
      } else {
        next.holders = state.holders.filter { $0.value != index }
        own = Worker()
      }
    }
  }

  private func write(_ next: inout State, _ index: Int) {
    let worker = next.workers[index]
    for record in chunks[index] {
      let known = worker.keys[record.key]
      if creates(record, worker) { next.objects[record.name, default: 0] += 1 }
      if known == nil { next.entries[record.key, default: 0] += 1 }
      let last = decides(record, worker) ? record.order : known?.last ?? record.order
      if decides(record, worker) { next.links[record.key] = record.name }
      next.keys[record.key] = Key(version: (known?.version ?? 0) + 1, last: last)
    }
    next.isSaved[index] = true
    next.holders = next.holders.filter { $0.value != index }
  }

  private func commit(_ state: State, worker index: Int, _ add: Change) {
    // Its answer may be lost, and the transaction committed or not; the worker reads again in any case.
    for isCommitted in [true, false] {
      add { next, own in
        if isCommitted {
          write(&next, index)
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
