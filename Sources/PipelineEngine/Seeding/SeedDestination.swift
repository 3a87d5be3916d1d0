import Foundation
import SystemSupport
import OpenCoreData
import PersistentStores

/// The path of a seed, and the private folder next to it in which it is made.
///
/// The folder has a fixed name and is used under the store's lock, so that the next run repairs what a killed run left.
struct SeedDestination {
  let output: String
  private let stage: String

  /// The files of a store, in the order in which they are moved: when the store's file exists, all of it does.
  private static let suffixes = ["-shm", "-wal", ""]

  init(_ output: String) {
    self.output = output
    stage = output + ".seeding"
  }

  private var name: String { URL(fileURLWithPath: output).lastPathComponent }
  var imported: String { "\(stage)/import/\(name)" }
  var made: String { "\(stage)/\(name)" }
  private var replaced: String { "\(stage)/replaced/\(name)" }

  // MARK: Before

  /// - Throws: 73 where a file already exists, 73 and 77 for a path that can't be written.
  func check(replaces: Bool) throws(RunFailure) {
    try OutputPath.check(output)
    if !replaces, let refusal, try !RunFailure.exists(stage) { throw refusal }
  }

  /// Why no seed can be made here that replaces nothing; nil where it can.
  var refusal: RunFailure? {
    firstThere.map { there in
      RunFailure(
        code: nil, exitCode: .cannotCreate,
        message: "\(there) exists already; choose another path for the seed, or replace it with --force")
    }
  }

  private var firstThere: String? {
    ["", "-wal", "-shm", "-journal"].map { output + $0 }.first { stat.exists($0) }
  }

  /// Creates the folder, after repairing what a killed run left. Called while holding the store's lock.
  ///
  /// - Throws: Where that can't be repaired, too: the folder then stays, which has the only copy of the store.
  func begin(replaces: Bool) throws(RunFailure) {
    if try RunFailure.exists(stage) {
      try undo()
      if let left = clear() { throw RunFailure(code: nil, exitCode: .ioError, message: left) }
    }
    try check(replaces: replaces)
    for folder in [stage, stage + "/import", stage + "/replaced"] where mkdir(folder, 0o700) != 0 {
      let failure = RunFailure(folder, "can't be made for the seed", errno: errno)
      clear()
      throw failure
    }
  }

  // MARK: The report

  /// Where the summary of a seed is kept from before it is published until its reports are written.
  private var summary: String { "\(stage)/summary.json" }

  /// Keeps what the reports of a seed say, before it is published.
  func keep(_ report: RunSummary) throws(RunFailure) {
    // Numbers and texts can always be encoded.
    try WholeFile.write(Array((try? report.json()) ?? Data()), to: summary)
  }

  /// The summary of a seed that was published by a run that ended before it had written its reports.
  func unreported(program: String) -> RunSummary? {
    guard isPublished, let data = FileManager.default.contents(atPath: summary) else { return nil }
    return try? RunSummary(json: data, program: program)
  }

  /// Whether the seed has its name: the store's file is moved last.
  var isPublished: Bool {
    stat.exists(summary) && !stat.exists(made) && stat.exists(output)
  }

  /// The UUID of the store at the output's path; nil if there is none.
  var uuid: String? {
    let file = URL(fileURLWithPath: output)
    let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: file)
    return metadata?[NSStoreUUIDKey] as? String
  }

  /// Removes the folder. After a power cut it must not come back: it would stand for a seed that is not reported.
  ///
  /// The imported store goes first: its ledger names the rejects, and the next run removes those of a seed that was not
  /// published. The only copy of the store that was there before stays.
  ///
  /// - Returns: Why the folder is still there; nil where it is not.
  @discardableResult func clear() -> String? {
    if !stat.exists(output), stat.exists(replaced) {
      return "\(stage) has the store that was at \(output); the next seed with this path puts it back"
    }
    // Whatever another program has put there, such as a link to a folder, is not looked into.
    if stat.of(stage, followingLinks: false)?.type != S_IFDIR { unlink(stage) }
    if removeImported() { try? DurableRename.syncFolder(of: imported) }
    // Once more if a part could not be removed.
    for _ in 0..<2 where !stat.exists(imported) && stat.exists(stage) {
      try? FileManager.default.removeItem(atPath: stage)
    }
    if stat.exists(stage) {
      return "\(stage), a folder of the seed, can't be removed; the next seed with this path removes it"
    }
    try? DurableRename.syncFolder(of: output)
    return nil
  }

  /// - Returns: Whether there was an imported store, and it was removed.
  private func removeImported() -> Bool { unlink(imported) == 0 || errno != ENOENT && unlink(imported) == 0 }

  // MARK: Publishing

  /// The paths that the files of the seed will have, the store itself first.
  var files: [String] { Self.suffixes.reversed().filter { stat.exists(made + $0) }.map { output + $0 } }

  func publish(replaces: Bool) throws(RunFailure) {
    let suffixes = try Self.suffixes(of: made)
    for suffix in suffixes { try Self.sync(made + suffix) }
    if !replaces, let there = firstThere {
      throw RunFailure(
        code: nil, exitCode: .cannotCreate,
        message: "\(there) was created meanwhile; the seed did not replace it")
    }
    do throws(RunFailure) {
      // A single file replaces another in one step, unless the other one has more files.
      let old = ["-wal"].map { output + $0 } + [Self.largeValues(of: output)]
      if suffixes.contains("-wal") || old.contains(where: { stat.exists($0) }) { try setAside() }
      try setLargeValuesAside()
      for suffix in suffixes { try Self.move(made + suffix, to: output + suffix) }
    } catch {
      try? undo()
      throw error
    }
  }

  private static func suffixes(of store: String) throws(RunFailure) -> [String] {
    var found: [String] = []
    for suffix in suffixes {
      if try RunFailure.exists(store + suffix) { found.append(suffix) }
    }
    return found
  }

  /// The store's file is moved first: its WAL alone is not a store.
  private func setAside() throws(RunFailure) {
    for suffix in Self.suffixes.reversed() + ["-journal"] where try RunFailure.exists(output + suffix) {
      try Self.move(output + suffix, to: replaced + suffix)
    }
  }

  private static func largeValues(of store: String) -> String {
    LargeValues.supportFolder(of: URL(fileURLWithPath: store)).path
  }

  /// A seed has all values in its rows.
  private func setLargeValuesAside() throws(RunFailure) {
    let old = Self.largeValues(of: output)
    if try RunFailure.exists(old) { try Self.move(old, to: Self.largeValues(of: replaced)) }
  }

  /// Undoes the moves, unless the store's file itself was moved: then they are complete.
  private func undo() throws(RunFailure) {
    if try RunFailure.exists(output) { return }
    // A WAL of the store that was there before stays. SQLite makes the shared memory again.
    if try hasMovedWAL() { unlink(output + "-wal") }
    unlink(output + "-shm")
    let aside = Self.largeValues(of: replaced)
    if try RunFailure.exists(aside) { try Self.move(aside, to: Self.largeValues(of: output)) }
    for suffix in ["-journal"] + Self.suffixes where try RunFailure.exists(replaced + suffix) {
      try Self.move(replaced + suffix, to: output + suffix)
    }
  }

  /// Whether the WAL of the seed has the output's name. A store with a WAL says so in its header. (SQLite's file format,
  /// "File format version numbers".)
  private func hasMovedWAL() throws(RunFailure) -> Bool {
    guard try RunFailure.exists(made), try !RunFailure.exists(made + "-wal") else { return false }
    do throws(RegularFileError) {
      return try RegularFile.read(made, bytesMax: 20).dropFirst(18).first == 2
    } catch {
      throw RunFailure(made, "can't be read", for: error)
    }
  }

  private static func move(_ source: String, to target: String) throws(RunFailure) {
    do throws(POSIXError) {
      try DurableRename.move(source, to: target)
    } catch {
      throw RunFailure(target, "can't be moved into place", errno: error.code.rawValue)
    }
  }

  private static func sync(_ path: String) throws(RunFailure) {
    let descriptor: Int32
    do throws(RegularFileError) {
      descriptor = try RegularFile.open(path)
    } catch {
      throw RunFailure(path, "can't be read", for: error)
    }
    defer { close(descriptor) }
    if uninterrupted({ fsync(descriptor) }) != 0 {
      throw RunFailure(path, "can't be written to the disk", errno: errno)
    }
  }
}
