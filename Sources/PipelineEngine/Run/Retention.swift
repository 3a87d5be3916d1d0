import Foundation

/// Removes what earlier runs of a pipeline have left, as its definition says. What waits for a correction stays.
struct Retention {
  private let bounds: RetentionDefinition
  private let definition: PipelineDefinition
  private let options: RunOptions
  private let now: Date

  init(_ bounds: RetentionDefinition, of definition: PipelineDefinition, _ options: RunOptions) {
    (self.bounds, self.definition, self.options, now) = (bounds, definition, options, options.now())
  }

  /// One thing that can be removed: a file, or a file with what belongs to it.
  private struct Item {
    var paths: [String]
    var date: Date
    /// When it got its name, among those of one date.
    var changed: Date
    var name: String { paths[0] }

    /// Adds what belongs to it; the latest date counts.
    mutating func add(_ other: Item) {
      paths = Set(paths + other.paths).sorted()
      (date, changed) = (max(date, other.date), max(changed, other.changed))
    }
  }

  /// - Parameter keeping: Files that the run has just written.
  func apply(keeping kept: [String], log: EventLog) {
    let store = definition.storeLocation(options).flatMap { $0.exists ? $0 : nil }
    var lock: StoreLock?
    defer { lock?.release() }
    do throws(RunFailure) {
      lock = try store.map { store throws(RunFailure) in
        try StoreLock(store, definition.vocabulary, pipeline: definition.name, now: now)
      }
      try apply(keeping: Set(kept), of: store, log)
    } catch {
      // A run that has begun meanwhile removes what is old itself.
      if error.exitCode != .temporaryFailure { options.warn("what is old was not removed: \(error.message)") }
    }
  }

  private func apply(keeping kept: Set<String>, of store: StoreLocation?, _ log: EventLog) throws(RunFailure) {
    if let bounds = bounds.reports {
      for name in definition.report {
        let (earlier, own) = try reports(named: name, but: kept)
        remove(earlier, beyond: bounds, newer: own, log)
      }
    }
    guard bounds.processed != nil || bounds.rejects != nil, let store else { return }
    let history: LedgerHistory
    do throws(LedgerAccessError) {
      history = try LedgerHistory(store: store.text, vocabulary: definition.vocabulary)
    } catch {
      // Without the ledger it is unknown what waits.
      return options.warn("what is old was not removed: \(error.description)")
    }
    // A ledger that was removed knew what waits.
    if history.runs.isEmpty { return }
    let waiting = try WaitingInputs(history, store: store, of: definition, options)
    if let bounds = bounds.processed {
      for part in definition.imports {
        guard let inbox = part.inbox else { continue }
        let own = Inbox(inbox, in: part)
        remove(try processed(of: own, waiting: waiting.names), beyond: bounds, log)
        try removeEmptyDays(of: own.processed)
      }
    }
    if let bounds = bounds.rejects { remove(try rejects(history), beyond: bounds, log) }
  }

  // MARK: Finding

  /// The reports of earlier runs with a name, and the number of those that this run has written.
  private func reports(
    named name: String, but kept: Set<String>
  ) throws(RunFailure) -> (earlier: [Item], own: Int) {
    guard let template = try? ReportName(name), template.isSeries else { return ([], 0) }
    let folder = OutputPath.folder(of: definition.path(name))
    let paths = try RunFailure.names(in: folder).filter { template.matches($0, pipeline: definition.name) }
      .map { "\(folder)/\($0)" }
    let earlier = paths.filter { !kept.contains($0) }
    var items: [Item] = []
    for path in earlier {
      if let item = try Self.item(path) { items.append(item) }
    }
    return (items, paths.count - earlier.count)
  }

  /// The files of an inbox in the folders of days, without those whose rejects wait. Their age counts from the end of
  /// the day.
  private func processed(of inbox: Inbox, waiting: Set<String>) throws(RunFailure) -> [Item] {
    var items: [Item] = []
    for day in try RunFailure.names(in: inbox.processed).filter(Self.isDay) {
      let start = try? Date(day + "T00:00:00Z", strategy: .iso8601)
      let date = start?.addingTimeInterval(Self.secondsPerDay) ?? now
      for name in try RunFailure.names(in: "\(inbox.processed)/\(day)") {
        let names = Inbox.originals(of: name)
        // Other pipelines may move their files to the same folder.
        guard names.contains(where: inbox.takes), waiting.isDisjoint(with: names),
          var item = try Self.item("\(inbox.processed)/\(day)/\(name)")
        else { continue }
        item.date = date
        items.append(item)
      }
    }
    return items
  }

  private static let secondsPerDay = 86_400.0

  /// Rejects of the pipeline that were replayed, and those of imports that were undone; each with its details.
  private func rejects(_ history: LedgerHistory) throws(RunFailure) -> [Item] {
    let inputs = history.runs.filter { $0.pipeline == definition.name }.flatMap(\.inputs)
    let waiting = WaitingInputs.paths(history.waitingRejects)
    let known = WaitingInputs.paths(inputs.compactMap(\.rejects))
    let undone = WaitingInputs.paths(inputs.filter { $0.state == "undone" }.compactMap(\.rejects)).subtracting(waiting)
    var items: [String: Item] = [:]
    func add(_ path: String, as key: String) throws(RunFailure) {
      guard !waiting.contains(path), let item = try Self.item(path) else { return }
      items[key, default: item].add(item)
    }
    for path in undone {
      try add(path, as: path)
      try add(RejectsFile.detailsPath(of: path), as: path)
    }
    let details = Dictionary(known.map { (RejectsFile.detailsPath(of: $0), $0) }, uniquingKeysWith: { $1 })
    for folder in Set(known.map(OutputPath.folder)) {
      for name in try RunFailure.names(in: folder) {
        guard let match = name.wholeMatch(of: /(.+)\.replayed(\.[0-9]+)?/) else { continue }
        let path = "\(folder)/\(match.output.1)"
        if let rejects = known.contains(path) ? path : details[path] {
          try add("\(folder)/\(name)", as: "\(rejects).replayed\(match.output.2 ?? "")")
        }
      }
    }
    return Array(items.values)
  }

  /// Nil for what is neither a regular file nor a link.
  private static func item(_ path: String) throws(RunFailure) -> Item? {
    guard let status = try RunFailure.status(of: path, followingLinks: false),
      [S_IFREG, S_IFLNK].contains(status.type)
    else { return nil }
    let (time, change) = (status.st_mtim, status.st_ctim)
    return Item(
      paths: [path], date: Date(timeIntervalSince1970: Double(time.tv_sec)),
      changed: Date(timeIntervalSince1970: Double(change.tv_sec) + Double(change.tv_nsec) / 1e9))
  }

  private static func isDay(_ name: String) -> Bool { name.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) != nil }

  // MARK: Removing

  /// - Parameter newer: How many that are not among the items are newer, and count.
  private func remove(
    _ items: [Item], beyond bounds: RetentionDefinition.Bounds, newer: Int = 0, _ log: EventLog
  ) {
    let sorted = items.sorted { ($1.date, $1.changed, $1.name) < ($0.date, $0.changed, $0.name) }
    let oldest = bounds.days.map { now.addingTimeInterval(-Double($0) * Self.secondsPerDay) }
    for (index, item) in sorted.enumerated() {
      let isBeyond = bounds.count.map { index + newer >= $0 } ?? false
      guard isBeyond || oldest.map({ item.date < $0 }) ?? false else { continue }
      for path in item.paths {
        if unlink(path) == 0 {
          log.log(.fileRemoved(path))
        } else if errno != ENOENT {
          options.warn("\(path) can't be removed: \(String(cString: strerror(errno)))")
        }
      }
    }
  }

  /// Removes the folders of earlier days that are empty. Only an empty folder can be removed in this way.
  private func removeEmptyDays(of folder: String) throws(RunFailure) {
    let today = Inbox.day(of: now)
    for day in try RunFailure.names(in: folder) where Self.isDay(day) && day < today { rmdir("\(folder)/\(day)") }
  }
}
