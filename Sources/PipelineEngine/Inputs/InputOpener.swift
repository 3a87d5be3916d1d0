import CSV
import Foundation
import SystemSupport

/// Opens an input for a run: once to recognise it, where the ledger has something similar, and once to read it.
///
/// A file is opened twice. Standard input and other pipes can be read only once: what the preview has read is kept for
/// the complete read.
final class InputOpener {
  private let path: String
  /// The file of the inbox that was found under the path; nil for an input that is named.
  private let listed: FileIdentity?
  private let spool: InputSpool?
  private var pipe: FileHandle?

  convenience init(_ file: InputFile) { self.init(path: file.path, listed: file.inboxFile?.identity) }

  init(path: String, listed: FileIdentity? = nil) {
    self.path = path
    self.listed = listed
    if path == "-" {
      spool = InputSpool(descriptor: 0, name: "stdin")
    } else if listed == nil, Self.isPipe(path), let handle = FileHandle(forReadingAtPath: path) {
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
    return try fileSource()
  }

  func completeSource() throws(CSVError) -> ByteSource {
    if let spool { return try spool.completeSource() }
    return try fileSource()
  }

  /// Opens the file of an inbox that was listed, or another regular file that has its name now. A link that has the name
  /// since then is refused: it could lead to a file that its owner may not read.
  private func fileSource() throws(CSVError) -> ByteSource {
    guard let listed else { return try ByteSource(path: path) }
    let (descriptor, identity) = try StoredBytes.open(path)
    let source = try ByteSource(descriptor: descriptor, name: path, closes: true)
    let isThere = stat.of(path, followingLinks: false).map { FileIdentity($0).isSameFile(as: identity) } ?? false
    guard isThere || identity.isSameFile(as: listed) else {
      throw CSVError(
        .source, "cannot be opened: it has become a link since the inbox was listed; copy the file instead", path: path,
        errnoCode: ELOOP)
    }
    return source
  }

  /// Whether the input at a path can be read only once.
  static func isPipe(_ path: String) -> Bool { OutputPath.isSpecial(path) }
}
