import Foundation

/// The reason why a ``CoreDataStack`` could not open its store.
public struct CoreDataStackError: Error, Sendable, LocalizedError, CustomStringConvertible {
  /// The kinds of reasons.
  public enum Code: Sendable, Hashable {
    /// The seed's file does not exist.
    case seedMissing
    /// The seed has a `-shm` but no `-wal`: the most recent changes, possibly all rows, are missing.
    case seedWALMissing
    /// The seed is not a store, or a store of another model.
    case seedUnusable
    /// The container's folder can't be created or written to.
    case folderNotWritable
    /// There is not enough space for the copy.
    case diskFull
    /// Reading the seed or writing the copy failed in another way.
    case copyFailed
    /// The store exists but can't be opened; `underlying` is Core Data's error.
    case storeUnusable
  }

  /// The kind of reason.
  public let code: Code
  /// What is wrong, where, and a remedy.
  public let message: String
  /// The error of Core Data or of the system that is the cause; nil if there is none.
  public let underlying: (any Error)?

  init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.underlying = underlying
  }

  public var description: String { message }
  public var errorDescription: String? { message }
}

extension CoreDataStackError {
  /// Classifies a system error at `path`.
  init(_ what: String, at path: String, _ error: any Error) {
    let known = error as NSError
    let posix = known.userInfo[NSUnderlyingErrorKey] as? NSError ?? known
    let number = posix.domain == NSPOSIXErrorDomain ? Int32(posix.code) : 0
    switch (known.domain == NSCocoaErrorDomain ? known.code : 0, number) {
    case (NSFileWriteOutOfSpaceError, _), (_, ENOSPC), (_, EDQUOT), (_, EFBIG):
      self.init(.diskFull, "\(path) \(what): no space is left; free some space and start again", underlying: error)
    case (NSFileWriteNoPermissionError, _), (NSFileReadNoPermissionError, _), (NSFileWriteVolumeReadOnlyError, _),
      (_, EACCES), (_, EPERM), (_, EROFS), (_, ENOTDIR), (_, EEXIST), (NSFileWriteFileExistsError, _):
      self.init(
        .folderNotWritable,
        "\(path) \(what): \(Self.words(error, number)); check the permissions of the folder, or give the stack another",
        underlying: error)
    default:
      self.init(
        .copyFailed, "\(path) \(what): \(Self.words(error, number)); check the disk and start again", underlying: error)
    }
  }

  private static func words(_ error: any Error, _ number: Int32) -> String {
    number == 0 ? error.localizedDescription : String(cString: strerror(number))
  }
}
