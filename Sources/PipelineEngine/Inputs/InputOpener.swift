import CSV
import Foundation

/// Opens an input for a run: once to recognise it, where the ledger has something similar, and once to read it.
///
/// A file is opened twice. Standard input and other pipes can be read only once: what the preview has read is kept for
/// the complete read.
final class InputOpener {
  private let path: String
  private let spool: InputSpool?
  private var pipe: FileHandle?

  init(path: String) {
    self.path = path
    if path == "-" {
      spool = InputSpool(descriptor: 0, name: "stdin")
    } else if Self.isPipe(path), let handle = FileHandle(forReadingAtPath: path) {
      pipe = handle
      spool = InputSpool(descriptor: handle.fileDescriptor, name: path)
    } else {
      spool = nil
    }
  }

  /// Whether the whole input can be read more than once.
  var isReadTwice: Bool { spool == nil }

  func previewSource() throws(CSVError) -> ByteSource {
    if let spool { return try spool.previewSource() }
    return try ByteSource(path: path)
  }

  func completeSource() throws(CSVError) -> ByteSource {
    if let spool { return try spool.completeSource() }
    return try ByteSource(path: path)
  }

  /// Whether the input at a path can be read only once.
  static func isPipe(_ path: String) -> Bool { OutputPath.isSpecial(path) }
}
