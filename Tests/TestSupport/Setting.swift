import Foundation

/// The environment variables that the tests read.
enum Setting {
  /// The value of a variable, nil if it is missing or empty.
  static func text(_ name: String) -> String? {
    let value = ProcessInfo.processInfo.environment[name] ?? ""
    return value.isEmpty ? nil : value
  }

  /// The value of a variable that holds a number. Ends the run if it holds something else: a run with another seed than
  /// the one that was asked for would mislead.
  static func number(_ name: String) -> UInt64? {
    guard let text = text(name) else { return nil }
    guard let number = UInt64(text) else {
      FileHandle.standardError.write(Data("\(name)=\(text) is not a number from 0 to \(UInt64.max).\n".utf8))
      exit(64)
    }
    return number
  }
}
