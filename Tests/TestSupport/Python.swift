import Foundation

extension Programs {
  /// The text that a Python script prints.
  @discardableResult
  package static func python(_ script: String, _ arguments: String..., in folder: TemporaryFolder) throws -> String {
    try output(of: ["python3", "-c", script] + arguments, in: folder)
  }
}

/// The text that a Python script prints for an input: the tests' independent reader and calculator.
package func python(_ script: String, input: String = "") throws -> String {
  try Programs.output(of: ["python3", "-c", script], input: Data(input.utf8))
}

/// The bytes that a Python script writes for an input of bytes.
package func python(_ script: String, input: [UInt8]) throws -> [UInt8] {
  Array(try Programs.bytes(of: ["python3", "-c", script], input: Data(input)))
}
