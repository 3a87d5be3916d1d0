/// The first error of a property that could not be read.
final class ReadFailure {
  private(set) var error: (any Error)?

  func note(_ error: any Error) { if self.error == nil { self.error = error } }
}

/// Errors of properties that can't be read. (Not part of Apple's API.)
extension NSManagedObjectContext {
  /// Calls `body`, and throws the store's error if a property was read in it that can't be read. Such a property has no
  /// value in `body`, where outside of it the process ends.
  ///
  /// What `body` made of missing values is discarded: the context does not save it, and is reset before this throws. So is
  /// its parent, if the read that failed was part of a save to it. Use it only where all their changes may be lost.
  package func throwingReadFailures<Result>(_ body: () throws -> Result) throws -> Result {
    let (outer, own) = (readFailure, ReadFailure())
    readFailure = own
    let result = Swift.Result { try body() }
    readFailure = outer
    if let error = own.error {
      reset()
      throw error
    }
    return try result.get()
  }

  /// Throws the error of a property that could not be read since the innermost `throwingReadFailures` began.
  func checkReadFailures() throws { if let error = readFailure?.error { throw error } }
}
