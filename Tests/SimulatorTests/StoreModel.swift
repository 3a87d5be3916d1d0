/// What a store and its ledger must hold: the rules of imports, in the plainest form that states them.
///
/// It gets what a step does, and how far a disturbed run came; the rest it works out from the lines of the inputs.
struct StoreModel {
  /// A rule that the model gets wrong on purpose, so that a test shows that the simulator finds it.
  enum Mistake: CaseIterable {
    case importsKnownInputs, updatesNothing, undoKeepsUpdates, countsEqualRecordsOnce, forgetsRejects
    case readsGrownInputsWhole, knowsRejectedInputs
  }

  /// An entry of the store.
  struct Row {
    var session: Session
    /// What changed it, the oldest first.
    var changes: [Change]
  }

  struct Change {
    /// The input; nil where a person changed the entry.
    var input: Int?
    /// The values before the change; nil for the insertion.
    var before: Session?
  }

  /// An input that a run has begun, as the ledger knows it.
  struct Input {
    var id: Int
    var path: String
    /// Nil for a file of an inbox.
    var location: String?
    var text: InputText
    var run: Int
    /// How many records were read.
    var read: Int
    /// The first record that was read, counted from 0; above 0 for what an input has gained.
    var first: Int
    var isComplete = false
    var isReported = true
    var isOutdated = false
    var counts = Counts()
    var rejected: [Line] = []
    /// Entries above it were inserted since the input was begun.
    var baseKey: Int
    /// Entries that a record of the input was compared with or became.
    var met: Set<Int> = []

    var bytes: [UInt8] { isComplete ? text.bytes : text.prefix(read) }
  }

  struct Counts: Equatable, CustomStringConvertible {
    var (read, inserted, updated, unchanged, duplicate, repeated, rejected) = (0, 0, 0, 0, 0, 0, 0)

    static func + (left: Counts, right: Counts) -> Counts {
      var sum = left
      sum.read += right.read
      sum.inserted += right.inserted
      sum.updated += right.updated
      sum.unchanged += right.unchanged
      sum.duplicate += right.duplicate
      sum.repeated += right.repeated
      sum.rejected += right.rejected
      return sum
    }

    var description: String { "\([read, inserted, updated, unchanged, duplicate, repeated, rejected])" }
  }

  let pipeline: SimulatedPipeline
  var mistake: Mistake?
  var rows: [Int: Row] = [:]
  var nextKey = 1
  /// Without those that were undone, the oldest first.
  var inputs: [Input] = []
  /// The highest ID that the ledger has given to an input.
  var highestID = 0

  init(_ pipeline: SimulatedPipeline) { self.pipeline = pipeline }

  /// The entries in the order in which they were inserted.
  var sessions: [Session] { rows.keys.sorted().compactMap { rows[$0]?.session } }

  // MARK: Records

  /// Takes the next records of an input, up to the number `end`.
  mutating func take(_ index: Int, upTo end: Int, _ equals: inout EqualSessions?) {
    var input = inputs[index]
    while input.read < min(end, input.text.lines.count) {
      let line = input.text.lines[input.read]
      input.read += 1
      input.counts.read += 1
      guard let session = line.session else {
        reject(line, &input)
        continue
      }
      if equals?.match(session) == true {
        input.counts.unchanged += 1
      } else if let key = key(of: session) {
        meet(key, line, session: session, input: &input)
      } else {
        insert(session, &input)
      }
    }
    inputs[index] = input
  }

  private func reject(_ line: Line, _ input: inout Input) {
    input.counts.rejected += 1
    if mistake != .forgetsRejects || input.rejected.count != 1 { input.rejected.append(line) }
  }

  private mutating func insert(_ session: Session, _ input: inout Input) {
    input.counts.inserted += 1
    rows[nextKey] = Row(session: session, changes: [Change(input: input.id, before: nil)])
    nextKey += 1
  }

  /// The entry that has the session's key.
  func key(of session: Session) -> Int? {
    func isSame(_ other: Session) -> Bool {
      switch pipeline.key {
      case ["location"]: session.place != nil && session.place == other.place
      case ["date"]: session.day == other.day
      case ["date", "location"]: session.day == other.day && session.place == other.place
      default: false
      }
    }
    // After an edit by hand, several entries may have the same key: the oldest one counts.
    return rows.filter { isSame($0.value.session) }.keys.min()
  }

  /// A record whose key an entry has.
  private mutating func meet(_ key: Int, _ line: Line, session: Session, input: inout Input) {
    guard let old = rows[key]?.session else { return }
    if pipeline.policy == .reject { return reject(line, &input) }
    let isRepeated = key > input.baseKey || input.met.contains(key)
    input.met.insert(key)
    var counts = input.counts
    switch pipeline.policy {
    case .keepNewest where session.day <= old.day:
      if session == old { counts.unchanged += 1 } else { counts.duplicate += 1 }
    case .update, .keepNewest:
      if session == old {
        counts.unchanged += 1
      } else {
        counts.updated += 1
        rows[key]?.changes.append(Change(input: input.id, before: old))
        if mistake != .updatesNothing { rows[key]?.session = session }
      }
    case .skip, .reject: counts.duplicate += 1
    }
    if isRepeated { input.counts.repeated += 1 } else { input.counts = counts }
  }

  // MARK: Taking back

  enum UndoRefusal { case none, laterPart, changedSince, perhapsChangedSince }

  /// Whether inputs can be taken back. The entries that another change followed upon stay.
  func refusal(ofUndo ids: Set<Int>) -> UndoRefusal {
    for other in inputs where !ids.contains(other.id) && other.first > 0 {
      if inputs.contains(where: { ids.contains($0.id) && $0.path == other.path && $0.id < other.id }) {
        return .laterPart
      }
    }
    var result = UndoRefusal.none
    for row in rows.values {
      switch refusal(ofUndo: ids, row) {
      case .none: continue
      case .perhapsChangedSince: result = .perhapsChangedSince
      case let refusal: return refusal
      }
    }
    return result
  }

  /// Whether the changes of a row that the inputs have made can be taken back.
  private func refusal(ofUndo ids: Set<Int>, _ row: Row) -> UndoRefusal {
    let (start, isCertain) = undoStart(ids, row)
    var result = isCertain ? UndoRefusal.none : .perhapsChangedSince
    guard let start else { return result }
    for segment in segments(of: row, from: start) where !Self.isChosen(segment.input, ids) {
      guard segment.input != nil, segment.isNeutral else { return .changedSince }
      result = .perhapsChangedSince
    }
    return result
  }

  /// The first change of a row that an undo takes back, and whether that is certain.
  ///
  /// An input that changes an entry several times and ends with the values that it found may have saved none of it: that
  /// depends on where its chunks end. What another input has done since stays then.
  private func undoStart(_ ids: Set<Int>, _ row: Row) -> (index: Int?, isCertain: Bool) {
    let segments = segments(of: row, from: 0)
    var isCertain = true
    for (number, segment) in segments.enumerated() where Self.isChosen(segment.input, ids) {
      let isFollowed = number + 1 < segments.count && !Self.isChosen(segments[number + 1].input, ids)
      guard segment.isNeutral, isFollowed else { return (segment.start, isCertain) }
      isCertain = false
    }
    return (nil, isCertain)
  }

  private static func isChosen(_ input: Int?, _ ids: Set<Int>) -> Bool { input.map(ids.contains) ?? false }

  /// Changes of one input that follow one another.
  private struct Segment {
    let input: Int?
    /// The index of the first change.
    let start: Int
    /// Whether they end with the values that they began with.
    let isNeutral: Bool
  }

  private func segments(of row: Row, from first: Int) -> [Segment] {
    var (segments, start): ([Segment], Int) = ([], first)
    while start < row.changes.count {
      let change = row.changes[start]
      let end = row.changes[start...].firstIndex { $0.input != change.input } ?? row.changes.count
      let after = end < row.changes.count ? row.changes[end].before : row.session
      segments.append(Segment(input: change.input, start: start, isNeutral: change.before == after))
      start = end
    }
    return segments
  }

  mutating func undo(_ ids: Set<Int>) {
    for (key, row) in rows {
      guard let first = undoStart(ids, row).index else {
        rows[key]?.changes.removeAll { Self.isChosen($0.input, ids) }
        continue
      }
      guard let before = row.changes[first].before else {
        rows[key] = nil
        continue
      }
      if mistake != .undoKeepsUpdates { rows[key]?.session = before }
      rows[key]?.changes = row.changes.prefix(first).filter { !Self.isChosen($0.input, ids) }
    }
    for id in ids.sorted() {
      for index in inputs.indices where inputs[index].id > id && inputs[index].isComplete {
        let counts = inputs[index].counts
        if counts.unchanged + counts.duplicate > 0 { inputs[index].isOutdated = true }
      }
    }
    inputs.removeAll { ids.contains($0.id) }
  }

  /// A partial import is given up: what came of it belongs to the input that is read instead.
  mutating func giveUp(_ id: Int, for newID: Int) {
    for (key, row) in rows {
      for (index, change) in row.changes.enumerated() where change.input == id {
        rows[key]?.changes[index].input = newID
      }
    }
    inputs.removeAll { $0.id == id }
  }

  mutating func edit(_ key: Int, _ change: (inout Session) -> Void) {
    guard let before = rows[key]?.session else { return }
    rows[key]?.changes.append(Change(input: nil, before: before))
    if var session = rows[key]?.session {
      change(&session)
      rows[key]?.session = session
    }
  }
}

/// The entries that are equal to records of an input, where whole records are compared.
struct EqualSessions {
  private var stored: [Session: Int] = [:]
  private var replaced: [Session: Int] = [:]
  private let countsOnce: Bool

  init(_ model: StoreModel, replacing ids: Set<Int> = []) {
    countsOnce = model.mistake == .countsEqualRecordsOnce
    for row in model.rows.values {
      let isReplaced = row.changes.first?.input.map(ids.contains) ?? false
      if isReplaced { replaced[row.session, default: 0] += 1 } else { stored[row.session, default: 0] += 1 }
    }
  }

  /// Whether the store has an equal entry that no earlier record of the input was matched with.
  mutating func match(_ session: Session) -> Bool {
    if let count = replaced[session], count > 0 {
      replaced[session] = count - 1
      return false
    }
    guard let count = stored[session], count > 0 else { return false }
    if !countsOnce { stored[session] = count - 1 }
    return true
  }
}
