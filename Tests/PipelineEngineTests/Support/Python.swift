import Foundation
import Testing

/// What a program in Python prints for `input`: an independent reader and calculator to compare with.
func python(_ script: String, input: String = "") throws -> String {
  let folder = try RunFolder()
  let program = try folder.write("program.py", script)
  // A file and no pipe: neither side waits for the other to read.
  let file = try folder.write("input.txt", input)
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = ["python3", program]
  process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
  let output = Pipe()
  process.standardOutput = output
  try process.run()
  let data = output.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  try #require(process.terminationStatus == 0)
  return String(decoding: data, as: UTF8.self)
}

/// One line of output per line of input.
func pythonLines(_ script: String, _ lines: [String]) throws -> [String] {
  let output = try python(script, input: lines.joined(separator: "\n") + "\n")
  let answers = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  try #require(answers.count == lines.count)
  return answers
}

extension Double {
  /// The 16 hexadecimal digits of the bits, as Python's `struct.pack('>d', x).hex()` has them.
  var bits: String {
    let digits = String(bitPattern, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// Random numbers that are the same in every run: SplitMix64.
struct EngineRandom: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
