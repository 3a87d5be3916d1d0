import Foundation

/// Watches a program by the system's tools.
struct Recorder {
  /// Samples a second of each thread that runs. More of them cost more than what is measured.
  private static let samplesPerSecond = 2000
  /// Bytes of the stack that are kept with each sample: SQLite is built without frame pointers, so who called whom is
  /// found out afterwards.
  private static let stackBytes = 16384

  let folder: BenchmarkFolder

  init(_ folder: BenchmarkFolder) throws {
    self.folder = folder
    guard Tool.succeeds(["perf", "--version"]) else {
      throw BenchmarkFailure(
        "perf is missing, which says where the time goes; on Debian 'apt-get install linux-perf' brings it")
    }
  }

  /// - Returns: What `perf script` prints, see `Profile.add`.
  func samples(of command: [String]) throws -> String {
    let data = folder.output("perf.data")
    let record = [
      "perf", "record", "-q", "-e", "cpu-clock", "-F", String(Self.samplesPerSecond), "--call-graph",
      "dwarf,\(Self.stackBytes)", "-o", data, "--",
    ]
    do {
      try Tool.run(record + command)
    } catch {
      throw BenchmarkFailure(
        "\(error); if perf may not watch, as root: sysctl kernel.perf_event_paranoid=1 kernel.kptr_restrict=0")
    }
    defer { folder.remove(data) }
    return try Tool.run(["perf", "script", "-i", data, "--no-inline", "-F", "tid,period,ip,sym"], isQuiet: true)
  }

  /// How often each system call was made, the most frequent first. Nil without strace.
  func systemCalls(of command: [String]) throws -> [(name: String, count: Int)]? {
    guard Tool.succeeds(["strace", "--version"]) else { return nil }
    let counts = folder.output("strace")
    try Tool.run(["strace", "-f", "-c", "-S", "calls", "-o", counts] + command)
    // % time, seconds, usecs/call, calls, errors if there are any, name.
    return try String(contentsOfFile: counts, encoding: .utf8).split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count >= 5, let count = Int(words[3]), let name = words.last, name != "total" else { return nil }
      return (name: String(name), count: count)
    }
  }
}
