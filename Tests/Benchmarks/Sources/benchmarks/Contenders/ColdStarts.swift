import Foundation

/// Starts of programs whose pages are not in memory.
struct ColdStarts {
  private let source: Contenders

  init(_ source: Contenders) { self.source = source }

  func contenders() throws -> [Contender] {
    [try cold(.limitVersionCold, "limit"), try cold(.versionCold, "surfjournal")]
  }

  /// What a process has mapped can't be dropped from the page cache, and this one has mapped the same libraries. So
  /// what is started is a copy that is new.
  private func cold(_ subject: Subject, _ name: String) throws -> Contender {
    let program = try source.folder.program(name)
    let folder = source.folder.output("cold-\(name)")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let files = try [program] + Self.libraries(of: program)
    try Tool.run(["cp", "--dereference"] + files + [folder])
    let copies = files.map { "\(folder)/\(URL(filePath: $0).lastPathComponent)" }
    let environment = ["env", "LD_LIBRARY_PATH=\(folder)"]
    let loaded = try Self.libraries(of: copies[0], environment)
    guard loaded.allSatisfy({ $0.hasPrefix(folder) }) else {
      throw BenchmarkFailure("\(copies[0]) does not load its libraries from beside it: \(loaded)")
    }
    let evict = [try source.folder.program("measure"), "--evict"] + copies
    return source.starting(
      subject, environment + [copies[0], "--version"], prepare: { try Tool.run(evict) })
  }

  /// Those that the linker finds, without the C library, which every running program has mapped.
  private static func libraries(of program: String, _ environment: [String] = []) throws -> [String] {
    try Tool.run(environment + ["ldd", program]).split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count > 2, words[1] == "=>", words[2].hasPrefix("/") else { return nil }
      let system = ["libc.so", "libm.so", "libpthread.so", "libdl.so", "librt.so"]
      return system.contains { words[0].drop { $0.isWhitespace }.hasPrefix($0) } ? nil : String(words[2])
    }
  }
}
