import Foundation

extension POSIXError {
  /// The error of the last system call.
  package static var last: POSIXError { POSIXError(errno) }

  /// - Parameter number: As `errno` has it.
  package init(_ number: Int32) { self.init(POSIXErrorCode(rawValue: number) ?? .EIO) }
}
