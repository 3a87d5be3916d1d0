import CSV
import Foundation
import SystemSupport
import OpenCoreData
import PersistentStores

/// Why a run, or one of its inputs, could not continue.
package struct RunFailure: Error {
  let code: IssueCode?
  package let exitCode: ExitCode
  package let message: String
  /// The message without the input's name and the code, where these are said by what it is part of.
  private var cause: String?
  /// Where in the input it happened, if the input was the cause.
  var line: Int?
  var byte: Int?
  /// Whether the issue that caused it was added already.
  var isNoted = false
  /// Whether another worker has moved the checkpoint of a shard meanwhile, so that nothing was saved.
  var isOfMovedCheckpoint = false
  /// Set when nothing can be saved any more, so that no other input need be tried.
  var concernsStore = false
  /// Set when it stays until something is installed.
  private var needsInstallation = false

  init(code: IssueCode?, exitCode: ExitCode, message: String, concernsStore: Bool = false) {
    self.code = code
    self.exitCode = exitCode
    self.message = message
    self.concernsStore = concernsStore
  }

  /// An input or output that failed.
  package init(_ error: CSVError) {
    let exitCode: ExitCode =
      switch (error.code, error.errnoCode) {
      case (_, ECANCELED?): .temporaryFailure
      case (_, EACCES?), (_, EPERM?): .noPermission
      case (.write, ENOENT?), (.write, EISDIR?), (.write, EROFS?), (.write, ENOTDIR?),
        (.write, EEXIST?):
        .cannotCreate
      case (.write, _): .ioError
      case (.source, EIO?): .ioError
      case (.source, CSVError.missingLibrary?): .unavailable
      case (.source, _?): .noInput
      case (.dialect, _): .configuration
      default: .dataError
      }
    self.init(code: IssueCode(rawValue: error.code.rawValue), exitCode: exitCode, message: "\(error)")
    cause = error.compressedByte.map { "\(error.message) (byte \($0) of the compressed file)" } ?? error.message
    line = error.line
    byte = error.byte
  }

  /// A store that failed. `path` is used to distinguish a folder without write permission from a missing one.
  package init(store error: NSError, path: String? = nil) {
    let exitCode: ExitCode =
      switch (error.code, error.storeFailureKind) {
      case (NSPersistentStoreTimeoutError, _): .temporaryFailure
      case _ where error.isOfUnusableAddress: .usage
      case _ where error.isOfMissingStore: .noInput
      case _ where error.isOfDisk: .ioError
      case (_, .notAFile): .noInput
      case (_, .outOfMemory): .temporaryFailure
      case (_, .undecidedPattern): .dataError
      case (_, .unreachable): .unavailable
      case _ where error.isOfUnsharedSnapshot || error.isOfMissingLibrary: .unavailable
      case (NSPersistentStoreOpenError, .cannotOpen) where !Self.mayWrite(path): .noPermission
      case (_, .permissionDenied), (_, .readOnly): .noPermission
      case (_, .cannotOpen): .cannotCreate
      case (NSPersistentStoreOpenError, .corrupt): .dataError
      case (_, .ioError), (_, .diskFull), (_, .corrupt): .ioError
      case (NSPersistentStoreIncompatibleVersionHashError, _), (NSMigrationError, _),
        (NSMigrationMissingSourceModelError, _), (NSMigrationMissingMappingModelError, _),
        (NSPersistentStoreOpenError, _), (NSPersistentStoreInvalidTypeError, _):
        .dataError
      // A model that no store can have.
      case (NSCoreDataError, _): .configuration
      // A damaged row, or an externally stored value whose file is missing.
      case (NSPersistentStoreOperationError, _): error.userInfo[NSUnderlyingErrorKey] == nil ? .dataError : .noInput
      // A model that is missing or can't be read.
      case (NSFileReadNoSuchFileError, _), (NSFileReadCorruptFileError, _), (NSFileReadUnknownError, _): .noInput
      case (NSFileReadNoPermissionError, _): .noPermission
      case (NSFileWriteNoPermissionError, _): .noPermission
      case (NSFileWriteUnknownError, _), (NSFileNoSuchFileError, _), (NSFileWriteFileExistsError, _): .cannotCreate
      case (NSFileWriteOutOfSpaceError, _): .ioError
      default: error.domain == NSPOSIXErrorDomain ? .ioError : .software
      }
    let advice = error.isOfIncompleteSchema ? " Or make it without them: add --incomplete-schema." : ""
    self.init(
      code: nil, exitCode: exitCode, message: error.reason + advice, concernsStore: true)
    needsInstallation = error.isOfMissingLibrary
  }

  /// A store that an export can't read, with the option that reads what is left of it, if there is one.
  ///
  /// - Parameter isIncremental: Whether the export goes on from an earlier one, which needs the store's metadata and all
  ///   values.
  package init(reading error: NSError, path: String? = nil, isIncremental: Bool = false) {
    let failure = RunFailure(store: error, path: path)
    var message = DamagedWAL.message(error)
    let instead = isIncremental ? ", without --incremental" : ""
    if error.isOfUnusableMetadata {
      message += " Or export it as a store of a known model\(instead): add --model MODEL --without-metadata."
    }
    if error.isOfMissingValue { message += " To leave out such values\(instead), add --missing-external=warn." }
    if error.isOfUnsharedSnapshot { message += " Leave --readers out." }
    self.init(code: nil, exitCode: failure.exitCode, message: message, concernsStore: true)
  }

  /// A store that is to be read but does not exist.
  init(noStore path: String) {
    self.init(
      code: .sourceError, exitCode: .noInput,
      message: "the store \(path) does not exist; check the path, or import into it first")
  }

  /// Checks that a store and the files next to it are regular ones, or can become such. The library opens /dev/null as a
  /// store in memory, from which nothing would be left.
  ///
  /// - Parameter mayBeMade: Whether a store that does not exist is made.
  package static func checkKind(ofStore path: String, mayBeMade: Bool = false) throws(RunFailure) {
    if StoreAddress.isAddress(path) { return }
    // SQLite would make the store, and then fail with the file next to it.
    if mayBeMade, !mayExist(path), stat.of(StorePath.resolved(path) + "-journal") == nil, errno == ENAMETOOLONG {
      throw RunFailure(
        code: nil, exitCode: .cannotCreate,
        message: "the store \(path) can't be made: its name is too long for the files that SQLite adds to it, such as "
          + "-journal; choose a shorter name")
    }
    do {
      try StorePath.checkKind(path)
    } catch {
      let cause = error as? SQLiteError
      throw RunFailure(
        code: nil, exitCode: .noInput,
        message: "\(path) can't be used as a store: \(cause?.message ?? "\(error)"). \(cause?.advice ?? "")")
    }
  }

  /// Whether the same may succeed later: the store can't be reached, or is busy.
  var isPassing: Bool {
    concernsStore && !needsInstallation && [.temporaryFailure, .unavailable].contains(exitCode)
  }

  private static func mayWrite(_ path: String?) -> Bool {
    guard let path else { return true }
    let files = FileManager.default
    if files.fileExists(atPath: path) {
      return files.isReadableFile(atPath: path) && files.isWritableFile(atPath: path)
    }
    let folder = OutputPath.folder(of: path)
    return !files.fileExists(atPath: folder) || files.isWritableFile(atPath: folder)
  }

  /// The failure as an issue of `input`, if it concerns the input itself.
  func issue(_ input: String) -> RecordIssue? {
    guard let code,
      [
        .sourceError, .compressionError, .formatError, .encodingError, .dialectError, .inputRefused, .hashCount,
        .rowCount,
      ].contains(code)
    else { return nil }
    let text = cause ?? (message.hasPrefix("\(input): ") ? String(message.dropFirst(input.count + 2)) : message)
    return RecordIssue(
      code, at: RecordPosition(input: input, record: 0, line: UInt64(line ?? 0), byte: UInt64(byte ?? 0)),
      message: text)
  }
}
