import CSV
import SystemSupport

/// The inputs that a run knows: those of the ledger, and those that the run has completed itself. Each question is
/// answered without a search through all of them, because an inbox may have a hundred thousand files.
final class KnownInputs: Sendable {
  private struct State: Sendable {
    /// By their numbers.
    var entries: [Int64: LedgerEntry] = [:]
    /// The numbers, by the length and the hash of the head.
    var heads: [Int: [ContentDigest: [Int64]]] = [:]
    var locations: [String: [Int64]] = [:]
    var numbers: [KeyEntry.InputNumber: Int64] = [:]
    /// How many there are of each entity.
    var entityCounts: [String: Int] = [:]
    /// The numbers of those of plans that are not closed.
    var planned: Set<Int64> = []
    /// The numbers of those that have left out records, which an undo may make outdated.
    var leavingOut: Set<Int64> = []

    mutating func add(_ entry: LedgerEntry) {
      remove(entry.id)
      entries[entry.id] = entry
      heads[entry.progress.headBytes, default: [:]][entry.progress.headHash, default: []].append(entry.id)
      if let location = entry.location { locations[location, default: []].append(entry.id) }
      numbers[entry.number] = entry.id
      entityCounts[entry.entity, default: 0] += 1
      if entry.isPlanned { planned.insert(entry.id) }
      if entry.hasLeftOutRecords { leavingOut.insert(entry.id) }
    }

    mutating func remove(_ id: Int64) {
      guard let old = entries.removeValue(forKey: id) else { return }
      heads[old.progress.headBytes]?[old.progress.headHash]?.removeAll { $0 == id }
      if let location = old.location { locations[location]?.removeAll { $0 == id } }
      entityCounts[old.entity, default: 1] -= 1
      planned.remove(id)
      leavingOut.remove(id)
    }

    mutating func takeBack(_ id: Int64) {
      guard let old = entries[id] else { return }
      remove(id)
      for later in leavingOut where entries[later]?.isOutdated(byUndoOf: old) == true {
        entries[later]?.isOutdated = true
      }
    }
  }

  private let state: Locked<State>

  init(_ entries: [LedgerEntry] = []) {
    var state = State()
    for entry in entries { state.add(entry) }
    self.state = Locked(state)
  }

  /// Adds an input that the run has completed, and takes back those that it has replaced.
  func add(_ entry: LedgerEntry, replacing replaced: Set<Int64>) {
    state.withLock { state in
      for id in replaced { state.takeBack(id) }
      state.add(entry)
    }
  }

  // MARK: Questions

  /// All of them, the newest first.
  var all: [LedgerEntry] { state.withLock { $0.entries.values.sorted { $0.id > $1.id } } }

  /// Those of plans that are not closed.
  var planned: [LedgerEntry] { state.withLock { state in state.planned.compactMap { state.entries[$0] } } }

  func hasInputs(of entity: String) -> Bool { state.withLock { ($0.entityCounts[entity] ?? 0) > 0 } }

  /// The different lengths of their heads, in bytes.
  var headLengths: [Int] { state.withLock { Array($0.heads.keys) } }

  /// Those with a head of this length and hash.
  func withHead(_ bytes: Int, _ hash: ContentDigest) -> [LedgerEntry] {
    state.withLock { state in (state.heads[bytes]?[hash] ?? []).compactMap { state.entries[$0] } }
  }

  /// Those of a file, the newest first; none for a pipe.
  func at(_ location: String?, of entity: String) -> [LedgerEntry] {
    guard let location else { return [] }
    return state.withLock { state in
      (state.locations[location] ?? []).compactMap { state.entries[$0] }.filter { $0.entity == entity }
    }
    .sorted { $0.id > $1.id }
  }

  /// The input that a run counts by this number.
  func id(ofNumber number: KeyEntry.InputNumber) -> Int64? { state.withLock { $0.numbers[number] } }

  func input(_ id: Int64?) -> LedgerEntry? {
    guard let id else { return nil }
    return state.withLock { $0.entries[id] }
  }
}
