import Foundation
import OpenCoreData
import PipelineEngine

/// Why an entry could not be shown or changed. Where it is thrown, nothing was saved.
public struct JournalError: Error, Sendable, LocalizedError, CustomStringConvertible {
  public enum Code: Sendable, Hashable {
    /// There is no such file.
    case storeMissing
    /// The file can't be opened, read or written to as a store.
    case storeUnusable
    /// Another run or program has the store.
    case locked
    /// The text is no ID, or one of another store.
    case badID
    /// The store has no entry with the ID.
    case entryMissing
    /// The entry has no such attribute.
    case badAttribute
    /// The text is no value of its attribute, or one that a rule forbids.
    case badValue
    /// The predicate or the order does not fit the entry.
    case badQuery
    /// A rule of the model or of the store forbids the entry.
    case invalidEntry
    /// Somebody else changed the entry after it was read.
    case conflict
  }

  public let code: Code
  /// What is wrong and what to do.
  public let message: String
  /// What a process that ends because of it says.
  public let exitCode: ExitCode

  init(_ code: Code, exitCode: ExitCode, _ message: String) {
    self.code = code
    self.message = message
    self.exitCode = exitCode
  }

  public var description: String { message }
  public var errorDescription: String? { message }
}

extension JournalError {
  static func noStore(_ path: String) -> JournalError {
    JournalError(
      .storeMissing, exitCode: .noInput, "there is no store \(path); check the path, or import into it first")
  }

  /// What the store said when it was opened or read.
  init(reading error: any Error, path: String) {
    if let known = error as? JournalError {
      self = known
      return
    }
    let cause = (error as? CoreDataStackError)?.underlying ?? error
    let failure = RunFailure(store: cause as NSError, path: path)
    self.init(
      failure.exitCode == .temporaryFailure ? .locked : .storeUnusable, exitCode: failure.exitCode, failure.message)
  }

  /// What came of a save.
  init(saving error: any Error, path: String) {
    if let known = error as? JournalError {
      self = known
      return
    }
    // Of an error that is no NSError, Foundation's code says nothing.
    let known = error as NSError
    let ids = known.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID] ?? []
    let names = ids.compactMap(\.storeKey).map(String.init).joined(separator: ", ")
    switch (known.domain == NSCocoaErrorDomain ? known.code : 0) {
    case NSManagedObjectMergeError:
      self.init(
        .conflict, exitCode: .temporaryFailure,
        "entry \(names) of \(path) was changed by another program after it was read, so nothing was saved; look at it "
          + "again, and repeat the change if it is still wanted (error 133020)")
    case 1550..<1700, NSManagedObjectConstraintMergeError:
      self.init(.invalidEntry, exitCode: .dataError, "the entry can't be saved: \(known.localizedDescription)")
    default:
      self.init(reading: error, path: path)
    }
  }
}
