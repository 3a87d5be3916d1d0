import CFuzzer
import CMalloc
import Foundation

/// The targets, and how one of them is run.
enum Targets {
  static let all = own + (SharedStores.areThere ? [AppleArchiveTarget.self, AppleStoreTarget.self] : [])

  private static let own: [any FuzzTarget.Type] = [
    RecordsTarget.self, LimitsTarget.self, WritingTarget.self, EncodingTarget.self, CompressionTarget.self,
    JSONLinesTarget.self, DateTarget.self, NumberTarget.self, PredicateTarget.self, ModelXMLTarget.self,
    ArchiveTarget.self, PropertyListTarget.self, StoreTarget.self, DefinitionTarget.self, GuessTarget.self,
  ]

  /// With the one whose fault is planted.
  static let withCanary = all + [CanaryTarget.self]

  /// The target of this process. Safe: `run` sets it before the first execution, in the only thread that uses it.
  nonisolated(unsafe) private static var current: any FuzzTarget.Type = CanaryTarget.self

  /// Writes the seeds and the dictionary of every target.
  static func prepare(_ folder: URL) throws {
    for target in withCanary {
      let seeds = folder.appendingPathComponent("seeds/\(target.name)", isDirectory: true)
      try FileManager.default.createDirectory(at: seeds, withIntermediateDirectories: true)
      for (number, seed) in target.seeds.enumerated() {
        precondition(seed.count <= target.bytesMax, "Seed \(number) of \(target.name) is too long.")
        try Data(seed).write(to: seeds.appendingPathComponent("seed-\(number)"))
      }
      let words = target.words.map { word in
        "\"" + word.utf8.map { "\\x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\"\n"
      }
      try Data(words.joined().utf8).write(to: folder.appendingPathComponent("\(target.name).dict"))
    }
  }

  /// Runs a target with options of libFuzzer; returns the exit code.
  static func run(_ target: any FuzzTarget.Type, _ options: [String]) -> Int32 {
    current = target
    // Each execution frees what it has allocated. Giving it back to the system takes up to half of the time.
    mallopt(M_TRIM_THRESHOLD, 256 << 20)
    mallopt(M_MMAP_THRESHOLD, 32 << 20)
    // The driver takes the arguments as C has them, and may change them. To merge and to minimize it starts them again,
    // by a shell.
    let program = "'\(CommandLine.arguments[0])' \(target.name)"
    let words = [program, "-max_len=\(target.bytesMax)"] + options
    var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    var count = Int32(words.count)
    return pointers.withUnsafeMutableBufferPointer { buffer in
      var start = buffer.baseAddress
      return LLVMFuzzerRunDriver(&count, &start) { bytes, size in
        var input = FuzzInput(Array(UnsafeBufferPointer(start: bytes, count: size)))
        Targets.current.run(&input)
        return 0
      }
    }
  }
}
