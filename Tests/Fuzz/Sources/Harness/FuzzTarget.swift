import Foundation

/// A contract that holds for any bytes.
protocol FuzzTarget: SendableMetatype {
  /// What `make fuzz` calls the target.
  static var name: String { get }
  /// Inputs to start from.
  static var seeds: [[UInt8]] { get }
  /// Words of the target's language, which mutations insert.
  static var words: [String] { get }
  /// Longest input in bytes.
  static var bytesMax: Int { get }
  /// Whether its inputs may be kept in the repository: not if it starts from stores of Apple's framework.
  static var isKept: Bool { get }
  /// Runs the code on an input. It calls `broken` where the contract does not hold.
  static func run(_ input: inout FuzzInput)
}

extension FuzzTarget {
  static var words: [String] { [] }
  static var bytesMax: Int { 1024 }
  static var isKept: Bool { true }
}

/// Ends the process: libFuzzer keeps the input.
func broken(_ contract: String, _ details: @autoclosure () -> String = "") -> Never {
  FileHandle.standardError.write(Data("BROKEN: \(contract)\n\(details())\n".utf8))
  fatalError(contract)
}

/// Ends the process unless the two are equal.
func requireEqual<Value: Equatable>(_ found: Value, _ expected: Value, rule: String) {
  if found != expected { broken(rule, "found    \(found)\nexpected \(expected)") }
}
