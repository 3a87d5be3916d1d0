import Foundation
import OpenCoreData
import PipelineEngine

/// The reason why an entry could not be shown or changed. Nothing was saved when it is thrown.
public struct JournalError: Error, Sendable, LocalizedError, CustomStringConvertible {
  /// The kinds of reasons.
  public enum Code: Sendable, Hashable {
    /// The file does not exist.
    case storeMissing
    /// The file can't be opened, read or written as a store.
    case storeUnusable
    /// Another run or program holds the store's lock.
    case locked
    /// The text is not an ID, or the ID of another store.
    case badID
    /// The store has no entry with the ID.
    case entryMissing
    /// The model has no such entity, or can't be read.
    case badEntity
    /// The entry has no such attribute.
    case badAttribute
    /// The text is not a value of its attribute, or a rule forbids the value.
    case badValue
    /// The predicate or the order is not valid for an entry.
    case badQuery
    /// A rule of the model or of the store forbids the entry.
    case invalidEntry
    /// Another program changed the entry after it was read.
    case conflict
  }

  /// The kind of reason.
  public let code: Code
  /// What is wrong, and a remedy.
  public let message: String
  /// The exit status of a process that ends because of the error.
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
      .storeMissing, exitCode: .noInput, "the store \(path) does not exist; check the path, or import into it first")
  }

  /// Checks that the store's file, if it exists, is a regular one.
  static func checkKind(ofStore path: String, mayBeMade: Bool = false) throws(JournalError) {
    do {
      try RunFailure.checkKind(ofStore: path, mayBeMade: mayBeMade)
    } catch {
      throw JournalError(.storeUnusable, exitCode: error.exitCode, error.message)
    }
  }

  /// Makes an error of opening or reading the store.
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

  /// Makes an error of saving.
  init(saving error: any Error, path: String) {
    if let known = error as? JournalError {
      self = known
      return
    }
    // The code of an error that is not an NSError is meaningless; the domain distinguishes it.
    let known = error as NSError
    let ids = known.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID] ?? []
    let isOfJournal = ids.allSatisfy { $0.entity.name == Journal.entityName }
    let keys = ids.compactMap { id in id.storeKey.map { isOfJournal ? "\($0)" : "\(id.entity.name ?? "") \($0)" } }
    let names = (isOfJournal ? "entry " : "") + keys.joined(separator: ", ")
    switch (known.domain == NSCocoaErrorDomain ? known.code : 0) {
    case NSManagedObjectMergeError:
      self.init(
        .conflict, exitCode: .temporaryFailure,
        "\(names) of \(path) was changed by another program after it was read, so nothing was saved; review it, "
          + "and repeat the change if it still applies (error 133020)")
    case 1550..<1700, NSManagedObjectConstraintMergeError:
      self.init(.invalidEntry, exitCode: .dataError, "nothing was saved: \(Self.reasons(known))")
    default:
      self.init(reading: error, path: path)
    }
  }
  private static let reasonsMax = 10

  /// What a rule forbids, or each of several rules, with the objects that they are about.
  private static func reasons(_ error: NSError) -> String {
    let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error]
    let shown = details.prefix(reasonsMax).map { detail in
      let id = (detail.userInfo[NSValidationObjectErrorKey] as? NSManagedObject)?.objectID
      guard let id, let key = id.storeKey, id.entity.name != Journal.entityName else {
        return detail.localizedDescription
      }
      return "\(id.entity.name ?? "") \(key): \(detail.localizedDescription)"
    }
    if shown.count == 1 { return shown[0] }
    let sentences = shown.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }
    let rest = details.count - shown.count
    return sentences.joined(separator: "; ") + (rest > 0 ? "; and \(rest) more" : "")
  }
}
