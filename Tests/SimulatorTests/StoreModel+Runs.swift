/// What runs do to the model.
extension StoreModel {
  /// An input of a run.
  struct Given {
    let path: String
    var location: String?
    let text: InputText
  }

  /// A row of the ledger's table of inputs, as a run has left it.
  struct Record: Equatable {
    let id: Int
    let path: String
    let state: String
    /// How many records were read of the input.
    let read: Int
    let rejectsPath: String?
    let runID: String

    var isComplete: Bool { state != "partial" }
    var isOwed: Bool { state.hasPrefix("unreported") }
  }

  struct Result {
    var counts = Counts()
    /// The inputs that the run has completed, also one that a later one replaced. Those that were known not included.
    var completed: [Input] = []
    /// What is refused, by the index of the input.
    var refused: [Int: String] = [:]
    /// Whether the run came to its end.
    var isWhole = true
    /// Indices of inputs that were read to their end, or known.
    var done: [Int] = []
  }

  /// Applies a run.
  ///
  /// - Parameter records: The ledger's rows after the run, which say how far it came; nil for a run that is only
  ///   predicted, as a dry run does.
  mutating func run(_ given: [Given], _ options: Options, number run: Int, records: [Record]?) -> Result {
    let before = self
    var result = Result()
    // An input that a later one of the same run replaces is new, too, and undone.
    var new = records?.filter { $0.id > highestID } ?? []
    highestID = records?.map(\.id).max() ?? highestID
    let byID = Dictionary(uniqueKeysWithValues: (records ?? []).map { ($0.id, $0) })
    for (index, input) in given.enumerated() {
      var step = RunStep(given: input, options: options, run: run)
      let next = new.firstIndex { $0.path == input.path }
      let outcome = take(
        &step, next: next.map { new[$0] }, isPredicted: records == nil, records: byID, &result)
      switch outcome {
      case .refused(let reason):
        result.refused[index] = reason
        if pipeline.stopsAtErrors || pipeline.isAtomic {
          result.isWhole = false
          if pipeline.isAtomic { self = before }
          return result
        }
      case .new:
        if let next { new.remove(at: next) }
        result.done.append(index)
      case .continued: result.done.append(index)
      // A call that an input was refused does not end the run.
      case .unfinished: result.isWhole = false
      }
    }
    if result.isWhole, result.refused.isEmpty, !options.isReplay, !options.isDryRun { addOwed(run: run, to: &result) }
    return result
  }

  /// A run reports the inputs that a killed run has imported to their end and not reported.
  private mutating func addOwed(run: Int, to result: inout Result) {
    for index in inputs.indices where inputs[index].run != run {
      guard inputs[index].isComplete, !inputs[index].isReported else { continue }
      result.counts = result.counts + inputs[index].counts
      inputs[index].run = run
    }
  }

  private struct RunStep {
    let given: Given
    let options: Options
    let run: Int
  }

  private enum Outcome {
    case refused(String)
    /// Completed, as a new row of the ledger or as one that was there.
    case new, continued
    /// The run ended before the end of the input.
    case unfinished
  }

  private mutating func take(
    _ step: inout RunStep, next: Record?, isPredicted: Bool, records: [Int: Record], _ result: inout Result
  ) -> Outcome {
    let (given, options) = (step.given, step.options)
    var changedID: Int?
    switch treatment(of: given.text, location: given.location, options) {
    case .refused(let reason): return .refused(reason)
    case .known(let id):
      if let index = inputs.firstIndex(where: { $0.id == id }), !inputs[index].isReported, inputs[index].run != step.run
      {
        result.counts = result.counts + inputs[index].counts
        inputs[index].run = step.run
      }
      return .continued
    case .resumed(let id): return resume(id, step, isPredicted: isPredicted, to: records[id], result: &result)
    case .grown(let id):
      guard let front = inputs.first(where: { $0.id == id }) else { return .unfinished }
      var equals = options.changedInputs == .onlyNew ? EqualSessions(self) : nil
      for session in given.text.lines.prefix(front.read).compactMap(\.session) { _ = equals?.match(session) }
      return begin(
        step, after: front.read, equals: &equals, to: next, isPredicted: isPredicted, result: &result)
    case .changed(let id): changedID = id
    case .fresh: break
    }
    var equals: EqualSessions? = options.changedInputs == .onlyNew ? EqualSessions(self) : nil
    let saved = self
    var replacedIDs: Set<Int> = []
    if options.changedInputs == .replace {
      let replaced = replaced(by: given.text, location: given.location, changed: changedID, options)
      if let refusal = replaced.refusal { return .refused(refusal) }
      if let ids = replaced.ids {
        equals = EqualSessions(self, replacing: ids)
        replacedIDs = ids
      }
    } else if let refusal = refusal(ofOverlap: given.text, location: given.location, options) {
      return .refused(refusal)
    }
    let halfDone = inputs.filter { !$0.isComplete && $0.path == given.path }.map(\.id)
    undo(replacedIDs)
    let outcome = begin(step, after: 0, equals: &equals, to: next, isPredicted: isPredicted, result: &result)
    if case .unfinished = outcome, next == nil {
      self = saved
    } else if let id = inputs.last?.id {
      for half in halfDone { giveUp(half, for: id) }
    }
    return outcome
  }

  private mutating func begin(
    _ step: RunStep, after first: Int, equals: inout EqualSessions?, to record: Record?, isPredicted: Bool,
    result: inout Result
  ) -> Outcome {
    guard isPredicted || record != nil else { return .unfinished }
    let id = record?.id ?? (inputs.map(\.id).max() ?? 0) + 1_000_000
    inputs.append(
      Input(
        id: id, path: step.given.path, location: step.given.location, text: step.given.text, run: step.run,
        read: first, first: first, baseKey: nextKey - 1))
    return advance(inputs.count - 1, to: record, equals: &equals, result: &result) ? .new : .unfinished
  }

  private mutating func resume(
    _ id: Int, _ step: RunStep, isPredicted: Bool, to record: Record?, result: inout Result
  ) -> Outcome {
    guard let index = inputs.firstIndex(where: { $0.id == id }) else { return .unfinished }
    var equals = step.options.changedInputs == .onlyNew ? EqualSessions(self) : nil
    for session in step.given.text.lines.prefix(inputs[index].read).compactMap(\.session) { _ = equals?.match(session) }
    // A run that ended before its first save has left the input as it was.
    if let record, !record.isComplete, record.read == inputs[index].read { return .unfinished }
    inputs[index].text = step.given.text
    meetEarlierRecords(of: index)
    inputs[index].run = step.run
    return advance(index, to: record, equals: &equals, result: &result) ? .continued : .unfinished
  }

  /// A run that continues an input reads the earlier records again. The entry that has the key of one of them may be
  /// another one by now.
  private mutating func meetEarlierRecords(of index: Int) {
    guard pipeline.policy != .reject else { return }
    let earlier = inputs[index].text.lines[inputs[index].first..<inputs[index].read]
    inputs[index].met.formUnion(earlier.compactMap(\.session).compactMap(key))
  }

  /// Reads up to where the ledger says, or to the end; whether that is the end.
  private mutating func advance(
    _ index: Int, to record: Record?, equals: inout EqualSessions?, result: inout Result
  ) -> Bool {
    let isWhole = record?.isComplete ?? true
    take(index, upTo: isWhole ? inputs[index].text.lines.count : record?.read ?? 0, &equals)
    inputs[index].isComplete = isWhole
    result.counts = result.counts + inputs[index].counts
    if isWhole { result.completed.append(inputs[index]) }
    return isWhole
  }
}
