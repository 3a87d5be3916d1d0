import ManagedObjectModel

/// Deletions of packed rows: ranges of keys, however the rows were read.
extension SQLiteStore {
  func delete(_ deleted: [DeletedRows], on connection: SQLiteConnection, faults: inout SaveFaults) throws {
    for parts in deleted.byEntity {
      for part in parts where part.store !== identity { throw isForeign(part.id(row: 0)) }
      var runs = DeletedRuns(parts, consecutiveMin: Self.consecutiveMin, listMax: Self.deletedTogetherMax)
      while let together = runs.next() {
        let isDone = try deleteTogether(
          VersionedKeys(
            entity: parts[0].entity, version: together.version, count: together.count, isRange: together.isRange,
            keys: together.keys),
          connection)
        if isDone { continue }
        for run in together.runs {
          let part = parts[Int(run.part)]
          try part.rows.load()
          for row in run.rows { try delete(part.deletion(row: row), on: connection, faults: &faults) }
        }
      }
    }
  }
}

/// The rows of several parts, as they are deleted together: ranges of keys, and lists of others.
///
/// Rows whose keys follow each other are one run, so that a cascade over a million takes little memory.
private struct DeletedRuns {
  /// Rows of one part with one version, whose keys follow each other.
  struct Run {
    var key: Int64
    let version: Int64
    let part: Int32
    var row: Int32
    var count: Int32

    var end: Int64 { key + Int64(count) }
    var rows: Range<Int> { Int(row)..<Int(row + count) }

    func precedes(_ other: Run) -> Bool {
      version == other.version ? key < other.key : version < other.version
    }

    /// Takes the first rows away.
    mutating func removeFirst(_ removed: Int32) {
      key += Int64(removed)
      row += removed
      count -= removed
    }
  }

  /// What one statement deletes.
  struct Together {
    private(set) var runs: [Run]
    private(set) var count: Int
    fileprivate(set) var isRange = false

    init(_ first: Run) { (runs, count) = ([first], Int(first.count)) }

    var version: Int64 { runs[0].version }
    var end: Int64 { runs[runs.count - 1].end }
    /// All keys; of a range the first and the last.
    var keys: [Int64] { isRange ? [runs[0].key, end - 1] : runs.flatMap { $0.key..<$0.end } }

    mutating func append(_ run: Run) {
      runs.append(run)
      count += Int(run.count)
    }

    /// Gives the last `rest` rows back.
    mutating func removeLast(_ rest: Int) {
      runs[runs.count - 1].count -= Int32(rest)
      count -= rest
    }
  }

  /// The rows of a range that is not deleted completely are deleted one by one, so that a conflict names them.
  private static let rangeMax = 4096

  private let consecutiveMin: Int
  private let listMax: Int
  /// By version and key.
  private var runs: [Run] = []
  private var position = 0

  /// - Parameters:
  ///   - consecutiveMin: So many rows make a range.
  ///   - listMax: So many keys at most make a list.
  init(_ parts: [DeletedRows], consecutiveMin: Int, listMax: Int) {
    (self.consecutiveMin, self.listMax) = (consecutiveMin, listMax)
    for (index, part) in parts.enumerated() { add(part, Int32(index)) }
    if !zip(runs, runs.dropFirst()).allSatisfy({ $0.precedes($1) }) { runs.sort { $0.precedes($1) } }
  }

  private mutating func add(_ part: DeletedRows, _ index: Int32) {
    let (keys, versions) = (part.keys.array, part.versions.array)
    var run: Run?
    for row in part.liveRows {
      if let known = run, known.end == keys[row], known.version == versions[row], known.rows.upperBound == row {
        run?.count += 1
        continue
      }
      if let run { runs.append(run) }
      run = Run(key: keys[row], version: versions[row], part: index, row: Int32(row), count: 1)
    }
    if let run { runs.append(run) }
  }

  /// The rows that the next statement deletes; nil at the end.
  mutating func next() -> Together? {
    guard position < runs.count else { return nil }
    var together = Together(runs[position])
    var end = position + 1
    while end < runs.count, together.count < Self.rangeMax, runs[end].version == together.version,
      runs[end].key == together.end
    {
      together.append(runs[end])
      end += 1
    }
    if together.count >= consecutiveMin {
      together.isRange = true
      let rest = together.count - Self.rangeMax
      if rest > 0 {
        end -= 1
        runs[end].removeFirst(runs[end].count - Int32(rest))
        together.removeLast(rest)
      }
      position = end
      return together
    }
    while end < runs.count, runs[end].version == together.version, Int(runs[end].count) < consecutiveMin,
      together.count + Int(runs[end].count) <= listMax
    {
      together.append(runs[end])
      end += 1
    }
    position = end
    return together
  }
}
