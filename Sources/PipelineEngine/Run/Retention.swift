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
    var name: String { paths[0] }
  }

  /// - Parameter keeping: Files that the run has just written.
  func apply(keeping kept: [String], log: EventLog) {
    if let bounds = bounds.reports {
      for name in definition.report {
        let (earlier, own) = reports(named: name, but: Set(kept))
        remove(earlier, beyond: bounds, newer: own, log)
      }
    }
    guard bounds.processed != nil || bounds.rejects != nil, let store = definition.storePath(options),
      FileManager.default.fileExists(atPath: store)
    else { return }
    let history: LedgerHistory
    do throws(LedgerAccessError) {
      history = try LedgerHistory(store: store, vocabulary: definition.vocabulary)
    } catch {
      // Without the ledger it is unknown what waits.
      return options.warn("nothing old was removed: \(error.description)")
    }
    if let bounds = bounds.processed {
      for part in definition.imports {
        guard let inbox = part.inbox else { continue }
        let folder = Inbox(inbox, in: part).processed
        remove(processed(in: folder, waiting: Self.waitingNames(history)), beyond: bounds, log)
        removeEmptyDays(of: folder)
      }
    }
    if let bounds = bounds.rejects { remove(rejects(history), beyond: bounds, log) }
  }

  // MARK: Finding

  /// The reports of earlier runs with a name, and the number of those that this run has written.
  private func reports(named name: String, but kept: Set<String>) -> (earlier: [Item], own: Int) {
    guard let template = try? ReportName(name), template.isSeries else { return ([], 0) }
    let folder = OutputPath.folder(of: definition.path(name))
    let paths = Self.files(in: folder).filter { template.matches($0, pipeline: definition.name) }
      .map { "\(folder)/\($0)" }
    let earlier = paths.filter { !kept.contains($0) }
    return (earlier.compactMap(Self.item), paths.count - earlier.count)
  }

  /// The files in the folders of days, without those whose rejects wait.
  private func processed(in folder: String, waiting: Set<String>) -> [Item] {
    Self.files(in: folder).filter(Self.isDay).flatMap { day -> [Item] in
      let date = (try? Date(day + "T00:00:00Z", strategy: .iso8601)) ?? now
      return Self.files(in: "\(folder)/\(day)").filter { !waiting.contains(Self.original($0)) && !waiting.contains($0) }
        .compactMap { Self.item("\(folder)/\(day)/\($0)") }
        .map { Item(paths: $0.paths, date: date) }
    }
  }

  /// The names of inputs with rejects that wait for a correction.
  private static func waitingNames(_ history: LedgerHistory) -> Set<String> {
    Set(
      history.runs.flatMap(\.inputs).filter { $0.waiting > 0 }.map { URL(fileURLWithPath: $0.path).lastPathComponent })
  }

  /// `log.2.csv` is a second `log.csv` of a day.
  private static func original(_ name: String) -> String {
    guard let match = name.firstMatch(of: /\.[0-9]+(\.[^.]+(\.gz)?)$/) else { return name }
    return String(name[..<match.range.lowerBound] + match.output.1)
  }

  /// Rejects that were replayed, and those of imports that were undone; each with its details.
  private func rejects(_ history: LedgerHistory) -> [Item] {
    let inputs = history.runs.flatMap(\.inputs)
    let waiting = Set(history.waitingRejects.map { URL(fileURLWithPath: $0).path })
    let known = Set(inputs.compactMap(\.rejects).map { URL(fileURLWithPath: $0).path })
    let undone = Set(
      inputs.filter { $0.state == "undone" }.compactMap(\.rejects).map { URL(fileURLWithPath: $0).path }
    ).subtracting(waiting)
    let folders = Set((known + [RejectsDestination.requested(definition, options)].compactMap(\.self)).map(Self.folder))
    let replayed = folders.flatMap { folder in
      Self.files(in: folder).filter(Self.isReplayed).map { "\(folder)/\($0)" }
    }
    var items: [String: Item] = [:]
    for path in replayed + undone + undone.map(RejectsFile.detailsPath) {
      guard !waiting.contains(path), let item = Self.item(path) else { continue }
      let key = path.replacing(/\.jsonl(\.replayed(\.[0-9]+)?)?$/) { "\($0.output.1 ?? "")" }
      items[key, default: Item(paths: [], date: item.date)].paths.append(path)
    }
    return items.values.map { Item(paths: $0.paths.sorted(), date: $0.date) }
  }

  private static func isReplayed(_ name: String) -> Bool {
    name.firstMatch(of: /\.rejects\.(csv|jsonl)(\.jsonl)?\.replayed(\.[0-9]+)?$/) != nil
  }

  private static func folder(_ path: String) -> String {
    RejectsDestination.isFolder(path)
      ? (path.hasSuffix("/") ? String(path.dropLast()) : path) : OutputPath.folder(of: path)
  }

  private static func files(in folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
  }

  /// Nil for what is neither a regular file nor a link.
  private static func item(_ path: String) -> Item? {
    guard let status = stat.of(path, followingLinks: false), [S_IFREG, S_IFLNK].contains(status.type) else {
      return nil
    }
    return Item(paths: [path], date: Date(timeIntervalSince1970: Double(status.st_mtim.tv_sec)))
  }

  private static func isDay(_ name: String) -> Bool { name.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) != nil }

  // MARK: Removing

  /// - Parameter newer: How many that are not among the items are newer, and count.
  private func remove(
    _ items: [Item], beyond bounds: RetentionDefinition.Bounds, newer: Int = 0, _ log: EventLog
  ) {
    let sorted = items.sorted { ($1.date, $1.name) < ($0.date, $0.name) }
    let oldest = bounds.days.map { now.addingTimeInterval(-Double($0) * 86_400) }
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
  private func removeEmptyDays(of folder: String) {
    let today = Inbox.day(of: now)
    for day in Self.files(in: folder) where Self.isDay(day) && day < today { rmdir("\(folder)/\(day)") }
  }
}
