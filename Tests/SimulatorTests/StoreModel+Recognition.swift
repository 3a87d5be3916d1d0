/// How a run treats an input, by what was imported before.
extension StoreModel {
  struct Options {
    var again = false
    var changedInputs: SimulatedPipeline.ChangedInputs
    var isReplay = false
    /// Whether what an earlier replay has rejected again still has to take the place of the file.
    var hasRest = false
    var isDryRun = false
  }

  enum Treatment: Equatable {
    case known(Int)
    case resumed(Int)
    /// From the record behind those of an earlier input, by its id.
    case grown(Int)
    case fresh
    case changed(Int)
    case refused(String)
  }

  func treatment(of text: InputText, location: String?, _ options: Options) -> Treatment {
    if options.again { return .fresh }
    let bytes = text.bytes
    let matches = inputs.filter { input in
      bytes.starts(with: input.bytes)
        && !(options.isReplay && !options.hasRest && isRejectedWhole(input, location: location))
    }
    let isBegun = { (input: Input) in !input.isComplete && input.location == location ? 1 : 0 }
    if let own = matches.max(by: {
      ($0.bytes.count, isBegun($0), $0.id) < ($1.bytes.count, isBegun($1), $1.id)
    }) {
      if !own.isComplete { return .resumed(own.id) }
      let rest = Array(bytes[own.bytes.count...])
      if rest.isEmpty { return mistake == .importsKnownInputs ? .fresh : known(own, location: location, options) }
      if pipeline.isAppendOnly {
        if mistake == .readsGrownInputsWhole { return .fresh }
        if own.text.endsWithLineEnd || rest.starts(with: Array(text.lineEnd.utf8)) { return .grown(own.id) }
        return .refused("without a line end")
      }
      if pipeline.key.isEmpty, own.read > 0 { return changed(own, options) }
    }
    if let begun = inputs.last(where: { location != nil && $0.location == location && !$0.isComplete }) {
      return pipeline.key.isEmpty ? changed(begun, options) : .refused("changed before its checkpoint")
    }
    return .fresh
  }

  /// What the records of such an input lacked may be in the store by now. One that is not complete is continued from its
  /// own file only.
  private func isRejectedWhole(_ input: Input, location: String?) -> Bool {
    guard mistake != .knowsRejectedInputs, input.first == 0, input.counts.rejected == input.counts.read else {
      return false
    }
    return input.isComplete ? input.isReported && input.counts.rejected > 0 : input.location != location
  }

  private func known(_ input: Input, location: String?, _ options: Options) -> Treatment {
    let isSuperseded = inputs.contains { other in
      location != nil && other.location == location && other.isComplete && other.id > input.id
    }
    if !input.isOutdated, !isSuperseded { return .known(input.id) }
    if !pipeline.key.isEmpty { return input.isOutdated || pipeline.updates ? .fresh : .known(input.id) }
    if options.changedInputs != .refuse { return .changed(input.id) }
    return input.isOutdated ? .refused("left out") : .known(input.id)
  }

  private func changed(_ input: Input, _ options: Options) -> Treatment {
    options.changedInputs == .refuse ? .refused("changed") : .changed(input.id)
  }

  // MARK: Comparisons

  /// What the comparison with the store's entries comes to, where a pipeline has no key.
  struct Overlap {
    var records = 0
    var stored = 0
    var origins: [Int: Int] = [:]

    var isMost: Bool { stored * 2 > records }
    var main: Int? {
      let main = origins.max { ($0.value, $0.key) < ($1.value, $1.key) }
      return main.flatMap { $0.value * 2 >= stored ? $0.key : nil }
    }
  }

  /// Nil where nothing is compared.
  func overlap(_ text: InputText, _ options: Options) -> Overlap? {
    let isCompared =
      pipeline.key.isEmpty && options.changedInputs != .onlyNew && !options.again && !options.isReplay
      && !inputs.isEmpty
    guard isCompared else { return nil }
    var overlap = Overlap()
    var equals = EqualSessions(self)
    for session in text.lines.compactMap(\.session) {
      overlap.records += 1
      guard equals.match(session) else { continue }
      overlap.stored += 1
      let first = rows.filter { $0.value.session == session }.min { $0.key < $1.key }
      if let origin = first?.value.changes.first?.input { overlap.origins[origin, default: 0] += 1 }
    }
    return overlap
  }

  /// Whether the input is refused because most of it is in the store.
  func refusal(ofOverlap text: InputText, location: String?, _ options: Options) -> String? {
    guard let overlap = overlap(text, options) else { return nil }
    let earlier = inputs.contains { location != nil && $0.location == location && $0.counts.inserted > 0 }
    return earlier || overlap.isMost ? "in the store" : nil
  }

  /// The inputs that a file replaces.
  func replaced(
    by text: InputText, location: String?, changed: Int?, _ options: Options
  ) -> (ids: Set<Int>?, refusal: String?) {
    func same(as location: String?) -> Set<Int> {
      Set(inputs.filter { location != nil && $0.location == location }.map(\.id))
    }
    var old = same(as: location)
    if let changed { old.insert(changed) }
    if old.isEmpty {
      guard let overlap = overlap(text, options), overlap.isMost else { return (nil, nil) }
      guard let main = inputs.first(where: { $0.id == overlap.main }) else { return (nil, "not recorded") }
      old = main.location == nil ? [main.id] : same(as: main.location)
    }
    let refusal = refusal(ofUndo: old)
    if refusal != .none { return (nil, "\(refusal)") }
    return text.lines.isEmpty ? (nil, "no records") : (old, nil)
  }
}
