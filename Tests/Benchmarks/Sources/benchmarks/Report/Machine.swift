import Foundation

/// What a figure depends on in addition to the programs.
struct Machine {
  let processor: String
  let memory: String
  let system: String
  let sqlite: String
  let swift: String

  init(_ folder: BenchmarkFolder) throws {
    let cores = ProcessInfo.processInfo.activeProcessorCount
    let model = Self.field("model name", of: "/proc/cpuinfo") ?? "unknown processor"
    processor = "\(model), \(cores) \(cores == 1 ? "core" : "cores")"
    let kibibytes = Self.field("MemTotal", of: "/proc/meminfo")?.split(separator: " ").first.flatMap { Double($0) } ?? 0
    memory = "\(Int((kibibytes / 1_048_576).rounded())) GiB"
    let release = try String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)
    let distribution = Self.field("PRETTY_NAME", of: "/etc/os-release", separator: "=") ?? "unknown distribution"
    system =
      distribution.trimmingCharacters(in: ["\""]) + ", Linux " + release.trimmingCharacters(in: .whitespacesAndNewlines)
    sqlite = try Tool.run([folder.program("limit"), "--version"])
    swift = try Tool.run(["swift", "--version"]).split(separator: "\n").first.map(String.init) ?? "unknown compiler"
  }

  /// What a command begins with that is to have one core only.
  static var onFirstCore: [String] {
    get throws {
      let allowed = field("Cpus_allowed_list", of: "/proc/self/status") ?? ""
      guard let first = allowed.split(whereSeparator: { "-,".contains($0) }).first else {
        throw BenchmarkFailure("/proc/self/status does not say which cores may be used")
      }
      return ["taskset", "-c", String(first)]
    }
  }

  var lines: [String] { [processor, memory, system, sqlite, swift] }

  private static func field(_ name: String, of path: String, separator: Character = ":") -> String? {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
    return line?.split(separator: separator, maxSplits: 1).last?.trimmingCharacters(in: .whitespaces)
  }
}
