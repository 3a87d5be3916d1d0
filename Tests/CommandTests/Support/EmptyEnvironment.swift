import Foundation

/// The environment of a command that gets none of the tests' variables, except those for sanitizers.
enum EmptyEnvironment {
  /// - Parameter settings: Such as `LOGNAME=surfer`.
  /// - Returns: The arguments of env(1) before the command.
  static func arguments(_ settings: [String]) -> [String] {
    let sanitizers = ProcessInfo.processInfo.environment.filter { $0.key.hasSuffix("SAN_OPTIONS") }
    return ["-i"] + sanitizers.map { "\($0.key)=\($0.value)" } + settings
  }
}
