import Foundation

/// An error in a model file, with the line if it is known.
struct ModelFileError: Error {
  var file: URL?
  var line: Int?
  var problem: String
  var advice: String

  var nsError: NSError { nsError(code: CocoaError.fileReadCorruptFile.rawValue) }

  func nsError(code: Int) -> NSError {
    let name = file?.path ?? "model"
    let location = line.map { "\(name), line \($0)" } ?? name
    var userInfo: [String: Any] = [
      NSLocalizedDescriptionKey: "\(location): \(problem) \(advice)",
      NSLocalizedFailureReasonErrorKey: problem,
      NSLocalizedRecoverySuggestionErrorKey: advice,
    ]
    if let file {
      userInfo[NSFilePathErrorKey] = file.path
      userInfo[NSURLErrorKey] = file
    }
    if let line { userInfo[Self.lineKey] = line }
    return NSError(domain: NSCocoaErrorDomain, code: code, userInfo: userInfo)
  }

  /// The error for a file that is missing or can't be read.
  static func missing(_ file: URL, _ problem: String, advice: String) -> NSError {
    ModelFileError(file: file, line: nil, problem: problem, advice: advice)
      .nsError(code: CocoaError.fileReadNoSuchFile.rawValue)
  }

  /// The error for a file that the system does not read, with the system's error as the underlying one.
  static func unreadable(_ file: URL, _ problem: String, cause: any Error) -> NSError {
    let cause = cause as NSError
    // Anything but a file that is missing, or that this user may not read.
    guard cause.code == CocoaError.fileReadUnknown.rawValue,
      let underlying = cause.userInfo[NSUnderlyingErrorKey] as? any Error
    else { return missing(file, problem, advice: "Check that the file is there and readable.") }
    let reason = (underlying as? POSIXError).map { String(cString: strerror($0.code.rawValue)) }
    let error = ModelFileError(
      file: file, line: nil, problem: problem,
      advice: "\(reason ?? cause.localizedDescription). Check the file and its disk."
    ).nsError(code: cause.code)
    let userInfo = error.userInfo.merging([NSUnderlyingErrorKey: underlying]) { $1 }
    return NSError(domain: error.domain, code: error.code, userInfo: userInfo)
  }

  /// The user-info key of the line number, counted from 1.
  static let lineKey = "OpenCoreDataModelLine"
}
