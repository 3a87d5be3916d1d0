/// The exit status of a process, with the values of `sysexits.h`.
public struct ExitCode: RawRepresentable, Hashable, Sendable, Codable {
  public let rawValue: Int32

  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// 0: done; the data has no errors.
  public static let ok = ExitCode(rawValue: 0)
  /// 64 (EX_USAGE): the command line is wrong.
  public static let usage = ExitCode(rawValue: 64)
  /// 65 (EX_DATAERR): records were rejected, or the input is damaged.
  public static let dataError = ExitCode(rawValue: 65)
  /// 66 (EX_NOINPUT): an input does not exist or cannot be read.
  public static let noInput = ExitCode(rawValue: 66)
  /// 69 (EX_UNAVAILABLE): a library that the input needs is not installed.
  public static let unavailable = ExitCode(rawValue: 69)
  /// 70 (EX_SOFTWARE): a fault of this program.
  public static let software = ExitCode(rawValue: 70)
  /// 73 (EX_CANTCREAT): an output cannot be created.
  public static let cannotCreate = ExitCode(rawValue: 73)
  /// 74 (EX_IOERR): reading or writing failed on the way; the disk may be full.
  public static let ioError = ExitCode(rawValue: 74)
  /// 75 (EX_TEMPFAIL): not done, try again later: the store is locked, or the run was cancelled.
  public static let temporaryFailure = ExitCode(rawValue: 75)
  /// 77 (EX_NOPERM): a permission is missing.
  public static let noPermission = ExitCode(rawValue: 77)
  /// 78 (EX_CONFIG): the pipeline definition is wrong.
  public static let configuration = ExitCode(rawValue: 78)
}
