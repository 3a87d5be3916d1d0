import CFuzzer
import Foundation

/// The targets, and how one of them is run.
enum Targets {
  static let all: [any FuzzTarget.Type] = [
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
        try Data(seed.prefix(target.bytesMax)).write(to: seeds.appendingPathComponent("seed-\(number)"))
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
    // The driver takes the arguments as C has them, and may change them.
    let words = [CommandLine.arguments[0], "-max_len=\(target.bytesMax)"] + options
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
