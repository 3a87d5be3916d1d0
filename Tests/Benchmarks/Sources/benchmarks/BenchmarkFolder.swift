import Foundation

/// Where programs are found and files are kept.
struct BenchmarkFolder {
  /// The repository: this package lies in `Tests/Benchmarks` of it.
  static let repository = (0..<5).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

  /// Inputs that are kept from run to run.
  private let inputs: URL
  /// What runs write; empty at the start.
  private let outputs: URL

  init() throws {
    inputs = Self.repository.appending(path: ".build/bench")
    outputs = inputs.appending(path: "outputs")
    try? FileManager.default.removeItem(at: outputs)
    try FileManager.default.createDirectory(at: outputs, withIntermediateDirectories: true)
  }

  func input(_ name: String) -> String { inputs.appending(path: name).path }

  func output(_ name: String) -> String { outputs.appending(path: name).path }

  /// A program that was built together with this one.
  func program(_ name: String) throws -> String {
    // The path by which this one was started may be relative, or none at all.
    let folder = try URL(filePath: FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      .deletingLastPathComponent()
    let path = folder.appending(path: name).path
    guard FileManager.default.isExecutableFile(atPath: path) else {
      throw BenchmarkFailure("\(path) is missing; 'make bench' builds it")
    }
    return path
  }

  /// A script that runs another people's library.
  func peerScript(_ name: String) -> String {
    Self.repository.appending(path: "Tests/Benchmarks/Peers/\(name)").path
  }

  /// The yardsticks' sources; a plain clone has none.
  var yardsticks: String? {
    let shared =
      ProcessInfo.processInfo.environment["SURFJOURNAL_SHARED"].map { URL(filePath: $0) }
      ?? Self.repository.deletingLastPathComponent().appending(path: "shared")
    let path = shared.appending(path: "bench").path
    return FileManager.default.fileExists(atPath: path + "/imp.c") ? path : nil
  }

  /// Removes a file and, if it is a store, what SQLite keeps next to it.
  func remove(_ path: String) {
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  }
}
