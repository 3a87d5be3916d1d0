import CSV
import Foundation

/// Feeding a file of rejects, once it is mended, to the pipeline that rejected its records.
///
/// The ledger sees to it that each of its records goes in once, as for any input. When it is done, what was rejected
/// again takes the file's place, so that only this is there to be mended; the file as it was is kept under a name
/// ending in `.replayed`.
public enum Replay {
  /// What the lines beside a file of rejects say of where it came from.
  public struct Origin: Sendable, Decodable {
    /// How the pipeline was named to the program: a name, or the path of its definition. Nil where the columns were
    /// those of an entity.
    public let pipeline: String?
    /// The entity and the model that were named instead of the pipeline's.
    public let entity: String?
    public let model: String?
    /// The input whose records these were.
    public let input: String
    /// The store's file.
    public let store: String?
    /// The options that said how the input is read.
    public let options: [String: [String]]?
  }

  /// Reads the first line of the file beside `rejects`; nil where there is none, as beside a file that was moved alone.
  public static func origin(of rejects: String) -> Origin? {
    guard let handle = FileHandle(forReadingAtPath: RejectsFile.detailsPath(of: rejects)),
      let start = try? handle.read(upToCount: 64 << 10), let line = start.split(separator: UInt8(ascii: "\n")).first
    else { return nil }
    return try? JSONDecoder().decode(Origin.self, from: Data(line))
  }

  /// A replay that was killed after its input had been moved away and before the rest had taken its place: finishes it.
  ///
  /// - Returns: Whether there was something to finish.
  public static func finishInterrupted(_ rejects: String) throws(RejectsError) -> Bool {
    let files = FileManager.default
    let next = nextPath(of: rejects)
    guard !files.fileExists(atPath: rejects), files.fileExists(atPath: next) else { return false }
    do throws(RunFailure) {
      try put(next, inPlaceOf: rejects)
    } catch {
      throw RejectsError(message: error.message, exitCode: error.exitCode)
    }
    return true
  }

  /// What can be wrong with the files of a replay.
  public struct RejectsError: Error, Sendable {
    public let message: String
    public let exitCode: ExitCode
  }

  /// Where records that are rejected again are gathered.
  static func nextPath(of rejects: String) -> String { rejects + ".next" }

  /// An input that the ledger does not know, beside which an earlier replay has left its rest, was changed after that
  /// replay: what of it is in the store already can't be told.
  static func checkFresh(_ rejects: String) throws(RunFailure) {
    let next = nextPath(of: rejects)
    guard FileManager.default.fileExists(atPath: next) else { return }
    throw RunFailure(
      code: .inputRefused, exitCode: .dataError,
      message: "\(rejects) was changed after a replay that was interrupted at its very end. What is still to be mended "
        + "is in \(next): mend that one, remove \(rejects), and replay again")
  }

  /// Replaces an input that is imported by what of it was rejected again, or moves it away where nothing was.
  static func replace(_ input: String, by rejects: String?) throws(RunFailure) {
    let files = FileManager.default
    do {
      for path in [input, RejectsFile.detailsPath(of: input)] where files.fileExists(atPath: path) {
        try DurableRename.move(path, to: freeName(path + ".replayed"))
      }
    } catch {
      throw failure(error, input)
    }
    if let rejects, files.fileExists(atPath: rejects) { try put(rejects, inPlaceOf: input) }
  }

  private static func put(_ rejects: String, inPlaceOf input: String) throws(RunFailure) {
    do {
      let details = RejectsFile.detailsPath(of: rejects)
      if FileManager.default.fileExists(atPath: details) {
        try DurableRename.move(details, to: RejectsFile.detailsPath(of: input))
      }
      try DurableRename.move(rejects, to: input)
    } catch {
      throw failure(error, input)
    }
  }

  private static func freeName(_ path: String) -> String {
    var candidate = path
    var number = 1
    while FileManager.default.fileExists(atPath: candidate) {
      number += 1
      candidate = "\(path).\(number)"
    }
    return candidate
  }

  private static func failure(_ error: any Error, _ input: String) -> RunFailure {
    RunFailure(
      code: nil, exitCode: .ioError,
      message: "\(input) is imported, but could not be replaced by what of it was rejected again: "
        + "\((error as NSError).localizedDescription). Replay it once more to finish")
  }
}
