import Foundation
import OpenCoreData

/// Where a seed comes to lie, and the private folder beside it in which it is made.
///
/// The folder has one name, under the store's lock: what a killed run left is put right by the next.
struct SeedPlace {
  let output: String
  private let stage: String

  /// What belongs to a store, in the order in which it is put into place: whoever finds the store finds all of it.
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

  /// - Throws: 73 for a place where something is already, 73 and 77 for one that can't be written.
  func check(replaces: Bool) throws(RunFailure) {
    try OutputPlace.check(output)
    guard !replaces, let there = firstThere, stat.of(stage, followingLinks: false) == nil else { return }
    throw RunFailure(
      code: nil, exitCode: .cannotCreate,
      message: "\(there) is there already; choose another place for the seed, or replace it with --force")
  }

  private var firstThere: String? {
    ["", "-wal", "-shm", "-journal"].map { output + $0 }.first { stat.of($0, followingLinks: false) != nil }
  }

  /// Makes the folder; what a killed run had left is put right before. Called with the store's lock.
  func begin(replaces: Bool) throws(RunFailure) {
    if stat.of(stage, followingLinks: false) != nil {
      try undo()
      clear()
    }
    try check(replaces: replaces)
    for folder in [stage, stage + "/import", stage + "/replaced"] where mkdir(folder, 0o700) != 0 {
      throw RunFailure(folder, "can't be made for the seed", errno: errno)
    }
  }

  func clear() { try? FileManager.default.removeItem(atPath: stage) }

  // MARK: Into place

  /// - Returns: The files of the seed, the store itself first.
  func publish(replaces: Bool) throws(RunFailure) -> [String] {
    for suffix in Self.suffixes where stat.of(made + suffix) != nil { try Self.sync(made + suffix) }
    if !replaces, let there = firstThere {
      throw RunFailure(
        code: nil, exitCode: .cannotCreate,
        message: "\(there) has come to be meanwhile; the seed was not put in its place")
    }
    do throws(RunFailure) {
      // A file alone takes the place of another in one step.
      if stat.of(made + "-wal") != nil || stat.of(output + "-wal", followingLinks: false) != nil {
        try setAside()
      }
      try setLargeValuesAside()
      for suffix in Self.suffixes where stat.of(made + suffix) != nil {
        try Self.move(made + suffix, to: output + suffix)
      }
    } catch {
      try? undo()
      throw error
    }
    return Self.suffixes.reversed().map { output + $0 }.filter { stat.of($0) != nil }
  }

  /// What is to be replaced goes away the store first: its log alone is no store.
  private func setAside() throws(RunFailure) {
    for suffix in Self.suffixes.reversed() + ["-journal"] where stat.of(output + suffix, followingLinks: false) != nil {
      try Self.move(output + suffix, to: replaced + suffix)
    }
  }

  private static func largeValues(of store: String) -> String {
    LargeValues.supportFolder(of: URL(fileURLWithPath: store)).path
  }

  /// A seed has none of its own: an import writes all values into the store itself.
  private func setLargeValuesAside() throws(RunFailure) {
    let old = Self.largeValues(of: output)
    if stat.of(old) != nil { try Self.move(old, to: Self.largeValues(of: replaced)) }
  }

  /// Takes back what was put into place, unless the store itself is there: then it all is.
  private func undo() throws(RunFailure) {
    guard stat.of(output, followingLinks: false) == nil else { return }
    for suffix in ["-shm", "-wal"] { unlink(output + suffix) }
    let aside = Self.largeValues(of: replaced)
    if stat.of(aside) != nil { try Self.move(aside, to: Self.largeValues(of: output)) }
    for suffix in ["-journal"] + Self.suffixes where stat.of(replaced + suffix, followingLinks: false) != nil {
      try Self.move(replaced + suffix, to: output + suffix)
    }
  }

  private static func move(_ source: String, to target: String) throws(RunFailure) {
    do {
      try DurableRename.move(source, to: target)
    } catch {
      throw RunFailure(target, "can't be put into place", errno: (error as? POSIXError)?.code.rawValue ?? EIO)
    }
  }

  private static func sync(_ path: String) throws(RunFailure) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw RunFailure(path, "can't be read", errno: errno) }
    defer { close(descriptor) }
    if fsync(descriptor) != 0 { throw RunFailure(path, "can't be written to the disk", errno: errno) }
  }
}
