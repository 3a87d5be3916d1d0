import CSV
import Foundation
import SystemSupport
import PersistentStores

/// Decides where the rejects of a run's inputs are written.
enum RejectsDestination {
  /// For each input: the caller's or the definition's path; otherwise next to the report; otherwise next to the store,
  /// or in the current folder for a store on a server.
  /// If the path ends in `/` or is a folder, each input gets a file in it named after the input; files with the same
  /// name are numbered.
  static func paths(
    for inputs: [String], _ definition: PipelineDefinition, _ options: RunOptions, store: StoreLocation?
  ) -> [String?] {
    var folder: String
    if let requested = requested(definition, options) {
      guard isFolder(requested) else { return inputs.map { _ in requested } }
      folder = requested
    } else if let neighbour = ReportFiles.paths(definition, options).first.map(OutputPath.folder) ?? store?.folder {
      folder = neighbour
    } else {
      return inputs.map { _ in nil }
    }
    if !folder.hasSuffix("/") { folder += "/" }
    var timesUsed: [String: Int] = [:]
    return inputs.map { input in
      let name = RunSummary.rejectsName(for: input)
      timesUsed[name, default: 0] += 1
      return folder + (timesUsed[name] == 1 ? name : "\(timesUsed[name] ?? 0).\(name)")
    }
  }

  /// The path that the caller or the definition requests.
  static func requested(_ definition: PipelineDefinition, _ options: RunOptions) -> String? {
    let requested = options.rejects ?? definition.rejects
    let path = options.rejects.map { URL(fileURLWithPath: $0).path } ?? definition.rejects.map(definition.path)
    guard let requested, let path else { return nil }
    return requested.hasSuffix("/") && !path.hasSuffix("/") ? path + "/" : path
  }

  /// The path for an input of JSON Lines: a name that is made of the input's ends in `.jsonl`.
  static func jsonLinesPath(for path: String, _ definition: PipelineDefinition, _ options: RunOptions) -> String {
    let ending = RunSummary.rejectsEnding
    if let requested = requested(definition, options), !isFolder(requested) { return path }
    return path.hasSuffix(ending) ? path.dropLast(ending.count) + RunSummary.rejectsEndingOfJSONLines : path
  }

  static func isFolder(_ path: String) -> Bool {
    if path.hasSuffix("/") { return true }
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }

  /// Checks a path before the work. Rejects and their details are files that get their names when they are complete.
  ///
  /// - Throws: 73 for a device, a FIFO or a socket, and as `OutputPath.check(_:)`.
  static func check(_ path: String) throws(RunFailure) {
    do {
      try StorePath.checkKind(path)
    } catch {
      let kind = (error as? SQLiteError)?.message ?? "\(error)"
      throw RunFailure(
        code: nil, exitCode: .cannotCreate,
        message: "\(path) can't be used for rejects: \(kind); they are kept in a file, with their reasons in another "
          + "one next to it. Name a file, or a folder ending in '/'")
    }
    try OutputPath.check(path)
  }

  /// The path, or the next numbered one if it is taken: by rejects of an earlier run, or by the unfinished ones of another
  /// input, store or seed.
  static func free(_ path: String, taken: Set<String>, owner: String?) -> String {
    var candidate = path
    var number = 1
    while taken.contains(candidate) || isTaken(candidate) || RejectsFile.isInUse(candidate, byOtherThan: owner) {
      number += 1
      candidate = numbered(path, number)
    }
    return candidate
  }

  /// Whether something has the path, or belongs to rejects with it that a person or a replay has moved.
  private static func isTaken(_ path: String) -> Bool {
    names(ofRejects: path).contains { stat.of($0, followingLinks: false) != nil }
  }

  /// Whether it is known that nothing has the path, and that nothing belongs to rejects with it.
  static func isFree(_ path: String) throws(CSVError) -> Bool {
    for name in names(ofRejects: path) {
      do throws(POSIXError) {
        if try exists(name, followingLinks: false) { return false }
      } catch {
        throw CSVError(.write, "can't be examined", path: name, errnoCode: error.code.rawValue)
      }
    }
    return true
  }

  /// The rejects, the details, which may have lost their records, and the rest of a replay that was interrupted.
  private static func names(ofRejects path: String) -> [String] {
    [path, RejectsFile.detailsPath(of: path), RejectsMark.pathOfRest(of: path)]
  }

  private static func numbered(_ path: String, _ number: Int) -> String {
    if number == 1 { return path }
    let url = URL(fileURLWithPath: path)
    let ending = url.pathExtension
    return "\(url.deletingPathExtension().path).\(number)" + (ending.isEmpty ? "" : ".\(ending)")
  }

  // MARK: Rejects of runs that were killed

  /// The numbers of the unfinished rejects in a folder, by the name without the number; 1 for those that have none.
  fileprivate static func unfinished(in folder: String) -> [String: Set<Int>] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return numbers(of: names.compactMap(withoutPart))
  }

  /// The name that a temporary file gets; nil for another file.
  private static func withoutPart(_ name: String) -> String? {
    name.hasSuffix(".part") ? String(name.dropLast(".part".count)) : nil
  }

  /// The numbers of rejects and details, by the name without the number; 1 for those that have none.
  private static func numbers(of targets: [String]) -> [String: Set<Int>] {
    var numbers: [String: Set<Int>] = [:]
    for target in targets {
      // Those of JSON Lines end as the details of others do.
      for name in [target, RejectsFile.withoutDetails(target)].compactMap(\.self) {
        numbers[name, default: []].insert(1)
        guard let match = name.wholeMatch(of: /(.+)\.([0-9]+)(\.[^.]+)?/), let number = Int(match.output.2) else {
          continue
        }
        numbers["\(match.output.1)\(match.output.3 ?? "")", default: []].insert(number)
      }
    }
    return numbers
  }

  /// Removes the rejects that an interrupted attempt of a run has left for the path or a numbered one, under whichever
  /// names. Those of other runs stay.
  static func remove(_ path: String, ofRun run: String) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: OutputPath.folder(of: path))) ?? []
    let found = numbers(of: names.map { withoutPart($0) ?? $0 })[URL(fileURLWithPath: path).lastPathComponent] ?? []
    for candidate in found.map({ numbered(path, $0) })
    where [Replay.origin(of: candidate), RejectsFile.originOfParts(of: candidate)].contains(where: { $0?.run == run }) {
      RejectsFile.remove(candidate, ofRun: run)
    }
  }

  /// Removes the unfinished rejects that a run has left for the path or a numbered one, if it was killed before anything
  /// of it was in the store.
  ///
  /// - Parameters:
  ///   - numbers: The numbers of those that are there.
  ///   - isKept: Whether a run continues the rejects with this path.
  ///   - owner: The store or seed that the rejects belong to.
  static func removeAbandoned(
    _ path: String, numbers: Set<Int>, unless isKept: (String) -> Bool, owner: String?
  ) {
    for candidate in numbers.map({ numbered(path, $0) }) where !isKept(candidate) {
      RejectsFile.removeParts(of: candidate, ownedBy: owner)
    }
  }
}

/// The final paths of the rejects that a run writes: until the end of the run, no file has them.
final class RejectsNames: Sendable {
  private let taken = Locked<Set<String>>([])
  /// What ``RejectsDestination/unfinished(in:)`` has found, by folder. It is asked once: an inbox has many files.
  private let unfinished = Locked<[String: [String: Set<Int>]]>([:])

  /// Called when the run begins again.
  func forget() {
    taken.withLock { $0 = [] }
    unfinished.withLock { $0 = [:] }
  }

  /// The numbers of the unfinished rejects for a path that were there when the run first asked.
  func unfinishedNumbers(of path: String) -> Set<Int> {
    let url = URL(fileURLWithPath: path)
    let folder = OutputPath.folder(of: path)
    return unfinished.withLock { found in
      let numbers = found[folder] ?? RejectsDestination.unfinished(in: folder)
      found[folder] = numbers
      return numbers[url.lastPathComponent] ?? []
    }
  }

  func contains(_ path: String) -> Bool { taken.withLock { $0.contains(path) } }

  /// Takes the path, or the next free one; see ``RejectsDestination/free(_:taken:owner:)``.
  func take(_ path: String, unless kept: Set<String>, owner: String?) -> String {
    taken.withLock { taken in
      let free = RejectsDestination.free(path, taken: kept.union(taken), owner: owner)
      taken.insert(free)
      return free
    }
  }
}
