import CSV
import Foundation
import Locking

/// The bytes of a file as they are stored, compressed if it is.
struct StoredBytes {
  private let path: String
  private let file: FileHandle
  let count: Int
  private let state: stat

  private static let readBytes = 1 << 20

  init(_ path: String) throws(CSVError) {
    self.path = path
    do throws(RegularFileError) {
      file = FileHandle(fileDescriptor: try RegularFile.open(path), closeOnDealloc: true)
    } catch {
      throw CSVError(.source, "cannot be opened: \(error.reason)", path: path, errnoCode: error.code)
    }
    guard let state = stat.of(path) else {
      let code = errno
      throw CSVError(.source, "cannot be opened: \(systemMessage(code))", path: path, errnoCode: code)
    }
    self.state = state
    count = Int(state.st_size)
  }

  /// Whether nothing has written to the file since it was opened, as far as its size and its times show.
  var isUnchanged: Bool {
    guard let now = stat.of(path) else { return false }
    return now.st_size == state.st_size && now.st_ino == state.st_ino && now.st_mtim.tv_sec == state.st_mtim.tv_sec
      && now.st_mtim.tv_nsec == state.st_mtim.tv_nsec
  }

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
