import OpenCoreData
import PersistentStores

/// The links of a run to entries that may come after the records that name them: to entries of the own entity, to those of
/// a later part, and to records by their own names. They are set when all of them are in the store.
///
/// The run is one transaction. If a record turns out to name nothing, everything is rolled back, and the run begins again
/// without that record.
final class LateLinks {
  /// An object that a record names.
  struct Element {
    let digest: KeyDigest
    /// What identifies it, in `texts`.
    let text: Range<Int>
    /// Where the digests of its compared values begin in `compared`.
    let compared: Int
  }

  /// What a record says of one relationship of its entry.
  struct Naming {
    /// The primary key of the entry.
    let key: Int64
    let state: EntryState
    /// The index of the link in the pipeline.
    let link: Int
    let elements: Range<Int>
    let record: UInt64
    let line: UInt64
    let byte: UInt64
  }

  /// What became of a record.
  enum EntryState {
    case inserted, updated
    /// Its attributes are those of the entry.
    case unchanged
  }

  /// The records of one input.
  struct Input {
    let part: Int
    let path: String
    /// Nil until the input is read to its end.
    var checkpoint: FileCheckpoint?
    var namings: [Naming] = []
    var elements: [Element] = []
    var compared: [KeyDigest] = []
    var texts: [UInt8] = []
  }

  /// A record that can't be imported.
  struct Refusal {
    let code: IssueCode
    let column: String
    let value: String
    let message: String
  }

  private(set) var inputs: [Input] = []
  /// The entries by the records' own names, by root entity.
  private(set) var names: [String: RecordNames] = [:]
  /// By part and path, and by the number of the record.
  private var refused: [String: [UInt64: Refusal]] = [:]
  /// The number of records that were refused in this attempt.
  private(set) var newlyRefused = 0

  // MARK: Attempts

  /// Called when the run begins again.
  func beginAgain() { (inputs, names, newlyRefused) = ([], [:], 0) }

  func refuse(_ record: UInt64, of input: Input, _ refusal: Refusal) {
    if refused["\(input.part) \(input.path)", default: [:]].updateValue(refusal, forKey: record) == nil {
      newlyRefused += 1
    }
  }

  func refusedRecords(of input: Input) -> Set<UInt64> {
    Set(refused["\(input.part) \(input.path)", default: [:]].keys)
  }

  /// The issues of the records of a chunk that an earlier attempt has refused, by row.
  func refusals(of chunk: ParsedChunk, part: Int, input: String) -> [Int: RecordIssue] {
    guard let known = refused["\(part) \(input)"] else { return [:] }
    var found: [Int: RecordIssue] = [:]
    for row in 0..<chunk.batch.count {
      let position = chunk.position(ofRow: row, input: input)
      guard let refusal = known[position.record] else { continue }
      found[row] = RecordIssue(
        refusal.code, at: position, column: refusal.column, value: refusal.value, message: refusal.message)
    }
    return found
  }

  // MARK: Records

  /// Called when a chunk was saved.
  func note(
    _ chunk: ParsedChunk, _ resolved: ResolvedLinks, plan: ChunkPlan, firstKey: Int64?, part: Int, input: String,
    isUpdated: (EntityLink) -> Bool
  ) throws {
    if inputs.last?.part != part || inputs.last?.path != input || inputs.last?.checkpoint != nil {
      inputs.append(Input(part: part, path: input))
    }
    let last = inputs.count - 1
    let begin = inputs[last].namings.count
    let inserted = plan.insertedRows.enumerated().map { (key: (firstKey ?? 0) + Int64($0.offset), row: $0.element) }
    for link in resolved.late {
      let changes = isUpdated(link.link)
      for entry in inserted {
        let row = link.row(for: entry.row, plan, chunk, isUpdated: changes)
        let isNaming = link.values.elements(ofRow: row).contains { link.values.digests[$0] != .none }
        // An empty field says that the entry leads to nothing, which matters if the other end says something else.
        if isNaming || link.link.isPaired && link.isStated(row, chunk) {
          inputs[last].add(link, of: chunk, row: row, key: entry.key, state: .inserted)
        }
      }
      guard changes else { continue }
      for (updates, state) in [(plan.updates, EntryState.updated), (plan.unchangedUpdates, .unchanged)] {
        for update in updates where link.isStated(update.row, chunk) {
          inputs[last].add(link, of: chunk, row: update.row, key: update.storeKey, state: state)
        }
      }
    }
    inputs[last].namings[begin...].sort { ($0.record, $0.link) < ($1.record, $1.link) }
    guard let own = resolved.ownNames else { return }
    let stored = inserted.flatMap { entry in
      ([entry.row] + (plan.laterRows[entry.row] ?? [])).map { (key: entry.key, row: $0) }
    }
    let known = (plan.updates + plan.unchangedUpdates).map { (key: $0.storeKey, row: $0.row) }
    try note(own, of: (stored + known).sorted { $0.row < $1.row }, chunk, input: inputs[last])
  }

  /// Notes which entry the own name of each record means.
  private func note(
    _ own: ResolvedLinks.Link, of entries: [(key: Int64, row: Int)], _ chunk: ParsedChunk, input: Input
  ) throws {
    let root = chunk.batch.entity.rootEntity.name ?? ""
    let known = names[root] ?? RecordNames()
    names[root] = known
    try known.add(entries.map { (own.values.digests[$0.row], $0.key) }, of: chunk.batch.entity) { index in
      let row = entries[index].row
      let refusal = Refusal(
        code: .primaryKey, column: own.link.columnName, value: own.text(row, slot: 0),
        message: "an earlier record of this run has the name '\(own.text(row, slot: 0))' too, and records that lead to "
          + "it could mean either; give each record a name of its own")
      refuse(chunk.position(ofRow: row, input: input.path).record, of: input, refusal)
    }
  }

  /// Called when an input is read to its end.
  func finish(_ path: String, part: Int, _ checkpoint: FileCheckpoint) {
    guard let last = inputs.last, last.path == path, last.part == part else { return }
    inputs[inputs.count - 1].checkpoint = checkpoint
  }
}

extension LateLinks.Input {
  fileprivate mutating func add(
    _ link: ResolvedLinks.Link, of chunk: ParsedChunk, row: Int, key: Int64, state: LateLinks.EntryState
  ) {
    let first = elements.count
    for element in link.values.elements(ofRow: row) where link.values.digests[element] != .none {
      let start = texts.count
      texts += link.link.identifyingSlots.map { link.text(element, slot: $0) }.joined(separator: ", ").utf8
      elements.append(
        LateLinks.Element(
          digest: link.values.digests[element], text: start..<texts.count, compared: compared.count))
      compared += link.values.compared.map { $0[element] }
    }
    let position = chunk.position(ofRow: row, input: path)
    namings.append(
      LateLinks.Naming(
        key: key, state: state, link: link.values.link, elements: first..<elements.count, record: position.record,
        line: position.line, byte: position.byte))
  }

  func text(of element: LateLinks.Element) -> String { String(decoding: texts[element.text], as: UTF8.self) }
}

/// The entries that the own names of records mean, of one root entity. They are not stored.
final class RecordNames {
  private let keys: KeyIndex
  private var entities: [NSEntityDescription] = []

  init() { keys = KeyIndex(keysInMemoryMax: 4_000_000) }

  /// Adds the names of a chunk.
  ///
  /// - Parameter refuse: Called with the index of each name that is known already.
  func add(
    _ names: [(digest: KeyDigest, key: Int64)], of entity: NSEntityDescription, _ refuse: (Int) -> Void
  ) throws {
    let number = entities.firstIndex { $0 === entity } ?? entities.count
    if number == entities.count { entities.append(entity) }
    try keys.beginChunk(names.map(\.digest))
    for (index, name) in names.enumerated() where name.digest != .none {
      if let known = keys.entry(of: name.digest), known.storeKey != name.key {
        refuse(index)
      } else {
        keys.set(name.digest, KeyEntry(storeKey: name.key, values: UInt64(number)))
      }
    }
    try keys.endChunk()
  }

  func begin(_ digests: [KeyDigest]) throws { try keys.beginChunk(digests) }

  func find(_ digest: KeyDigest) -> (key: Int64, entity: NSEntityDescription)? {
    keys.entry(of: digest).map { ($0.storeKey, entities[Int($0.values)]) }
  }

  func end() throws { try keys.endChunk() }
}
