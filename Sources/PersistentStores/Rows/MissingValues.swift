import Foundation
import SystemSupport

/// The external values that a store's readers have left out because their files are missing. Without it, reading such a
/// value is an error.
package final class MissingValues: Sendable {
  /// A value in the store whose file is missing.
  package struct Value: Sendable, Hashable {
    /// As `Session.photo`.
    package let attribute: String
    /// The row's primary key.
    package let key: Int64
    /// The path of the file.
    package let file: String
  }

  /// The key of the option of `addPersistentStore` whose value is a `MissingValues`.
  package static let optionKey = "OpenCoreDataMissingValuesOption"
  /// Marks errors that the option prevents.
  static let errorKey = "OpenCoreDataMissingValue"

  /// The number of values that are remembered. After as many, a value may be reported twice.
  static let knownMax = 100_000

  private struct State {
    var known: Set<Value> = []
    var untold: [Value] = []
  }
  private let state = Locked(State())

  package init() {}

  /// A value may be read more than once: by a predicate, and for the result.
  func note(_ value: Value) {
    state.withLock { state in
      if state.known.count >= Self.knownMax { state.known = [] }
      if state.known.insert(value).inserted { state.untold.append(value) }
    }
  }

  /// The values that were left out since the last call, each once.
  package func take() -> [Value] {
    state.withLock { state in
      defer { state.untold = [] }
      return state.untold
    }
  }
}

extension MissingValues {
  /// Writes a line for each value that was left out to the standard error, as Apple's framework does.
  package func report() {
    for value in take() {
      let line =
        "CoreData: error: External data reference can't find underlying file: \(value.attribute) of row \(value.key) "
        + "reads as nil, because \(value.file) is missing. Bring it back next to the store.\n"
      FileHandle.standardError.write(Data(line.utf8))
    }
  }
}

extension NSError {
  /// Whether a value's file is missing, and `MissingValues` would leave the value out.
  package var isOfMissingValue: Bool { userInfo[MissingValues.errorKey] as? Bool == true }

  /// Whether it would not have been thrown if missing values were left out.
  package var isDueToMissingValue: Bool {
    isOfMissingValue || (userInfo[NSUnderlyingErrorKey] as? NSError)?.isOfMissingValue == true
  }
}
