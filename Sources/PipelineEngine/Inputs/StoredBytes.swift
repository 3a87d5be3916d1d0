import CSV
import Foundation
import SystemSupport

/// The bytes of a file as they are stored, compressed if it is.
struct StoredBytes {
  private let path: String
  private let file: FileHandle
  let count: Int
  private let identity: FileIdentity

  private static let readBytes = 1 << 20

  init(_ path: String) throws(CSVError) {
    self.path = path
    let descriptor: Int32
    (descriptor, identity) = try Self.open(path)
    file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    count = Int(identity.bytes)
  }

  /// Opens a regular file for reading.
  static func open(_ path: String) throws(CSVError) -> (descriptor: Int32, identity: FileIdentity) {
    do throws(RegularFileError) {
      let descriptor = try RegularFile.open(path)
      var status = stat()
      guard fstat(descriptor, &status) == 0 else {
        let code = errno
        close(descriptor)
        throw .system(code)
      }
      return (descriptor, FileIdentity(status))
    } catch {
      throw CSVError(.source, "cannot be opened: \(error.reason)", path: path, errnoCode: error.code)
    }
  }

  /// Whether nothing has written to the file since it was opened, as far as its size and its times show.
  var isUnchanged: Bool { stat.of(path).map { FileIdentity($0) } == identity }

  /// The hash of a part.
  func digest(_ range: Range<Int>) throws(CSVError) -> ContentDigest {
    let hash = ContentHash()
    var offset = range.lowerBound
    do {
      try file.seek(toOffset: UInt64(offset))
      while offset < range.upperBound,
        let data = try file.read(upToCount: min(Self.readBytes, range.upperBound - offset)), !data.isEmpty
      {
        hash.update([UInt8](data))
        offset += data.count
      }
    } catch {
      throw CSVError(.source, "cannot be read: \((error as NSError).reason)", path: path, byte: offset, errnoCode: EIO)
    }
    if offset < range.upperBound {
      throw CSVError(.source, "ends before byte \(range.upperBound); it has become shorter", path: path, byte: offset)
    }
    return hash.digest
  }
}
