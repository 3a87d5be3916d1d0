import Foundation
import Testing

/// One line of output per line of input.
package func pythonLines(_ script: String, _ lines: [String]) throws -> [String] {
  let output = try python(script, input: lines.joined(separator: "\n") + "\n")
  let answers = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  try #require(answers.count == lines.count)
  return answers
}

extension Double {
  /// The 16 hexadecimal digits of the bits, as Python's `struct.pack('>d', x).hex()` has them.
  package var bits: String {
    let digits = String(bitPattern, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
