import CSV
import Foundation

/// What workers have printed of a plan that is only checked: a line of JSON for each shard.
struct CheckedLines {
  /// The number of the plan.
  let plan: String
  /// The results by the numbers of the shards.
  private(set) var found: [Int: CheckedShard] = [:]

  init(plan: String) { self.plan = plan }

  /// Reads the lines of a file; - is standard input.
  ///
  /// - Throws: `RunFailure` for a file that can't be read, and for a line that is not a result of this plan.
  mutating func read(_ path: String, unless isCancelled: @escaping () -> Bool) throws(RunFailure) {
    let source: ByteSource
    var (bytes, number) = ([UInt8](), 0)
    do throws(CSVError) {
      source = try ByteSource(path: path, unless: isCancelled)
    } catch {
      throw RunFailure(error)
    }
    while true {
      let searched = bytes.count
      do throws(CSVError) {
        if try source.read(appendingTo: &bytes) == 0 { break }
      } catch {
        throw RunFailure(error)
      }
      guard let end = bytes[searched...].lastIndex(of: UInt8(ascii: "\n")) else { continue }
      for line in bytes[..<end].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
        number += 1
        try add(line, at: "\(source.name):\(number)")
      }
      bytes.removeFirst(end + 1)
    }
    try add(bytes[...], at: "\(source.name):\(number + 1)")
  }

  private mutating func add(_ line: ArraySlice<UInt8>, at place: String) throws(RunFailure) {
    if line.isEmpty { return }
    guard let shard = try? JSONDecoder().decode(CheckedShard.self, from: Data(line)) else {
      throw RunFailure(
        code: nil, exitCode: .dataError,
        message: "\(place): this is not a result of 'work --dry-run', or only the beginning of one, as a worker that "
          + "is killed leaves it; remove the line, and 'report' names the shards that are missing")
    }
    guard shard.plan == plan else {
      throw RunFailure(
        code: nil, exitCode: .dataError,
        message: "\(place): the result is of another plan, \(shard.plan); remove its lines")
    }
    found[shard.shard] = found[shard.shard] ?? shard
  }
}
