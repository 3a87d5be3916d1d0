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

  /// The user-info key of the line number, counted from 1.
  static let lineKey = "OpenCoreDataModelLine"
}
