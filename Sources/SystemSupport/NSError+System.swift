import Foundation

extension NSError {
  /// The number of the system's error that is behind this one; nil if there is none.
  package var systemCode: Int32? {
    if domain == NSPOSIXErrorDomain { return Int32(code) }
    if let cause = userInfo[NSUnderlyingErrorKey] as? any Error { return (cause as NSError).systemCode }
    guard domain == NSCocoaErrorDomain else { return nil }
    switch CocoaError.Code(rawValue: code) {
    case .fileReadNoSuchFile, .fileNoSuchFile: return ENOENT
    case .fileReadNoPermission, .fileWriteNoPermission: return EACCES
    case .fileWriteOutOfSpace: return ENOSPC
    default: return nil
    }
  }

  /// The error's own message, or the system's, where Foundation only has a number: on Linux it has few texts.
  package var reason: String {
    if userInfo[NSLocalizedDescriptionKey] != nil { return localizedDescription }
    return systemCode.map { String(cString: strerror($0)) } ?? localizedDescription
  }

  /// Whether it comes from a disk that fails or is full, not from a path or its permissions.
  package var isOfDisk: Bool { systemCode.map { [EIO, ENOSPC, EDQUOT].contains($0) } ?? false }
}
