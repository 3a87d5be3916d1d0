import Foundation

/// A debugging switch of a program: `-NAME 1` among its arguments, or 1 in the environment variable `NAME`, which shells
/// can set only in capital letters and with underscores in place of dots.
package struct DebugSwitch: Sendable {
  package let name: String

  package init(_ name: String) { self.name = name }

  package var shellName: String { name.uppercased().replacingOccurrences(of: ".", with: "_") }

  /// That of this program; 0 if it is off.
  package var level: Int {
    level(arguments: CommandLine.arguments, environment: ProcessInfo.processInfo.environment)
  }

  /// An argument takes precedence over the environment, and the last of several arguments over the others. YES is 1.
  package func level(arguments: [String], environment: [String: String]) -> Int {
    if let index = arguments.lastIndex(of: "-\(name)") {
      return arguments.indices.contains(index + 1) ? Self.level(arguments[index + 1]) : 0
    }
    return (environment[name] ?? environment[shellName]).map(Self.level) ?? 0
  }

  private static func level(_ value: String) -> Int {
    if let level = Int(value) { return max(0, level) }
    return ["yes", "true"].contains(value.lowercased()) ? 1 : 0
  }
}
