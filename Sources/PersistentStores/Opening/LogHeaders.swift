import ManagedObjectModel
import Foundation

/// The beginning of a -wal. (SQLite: "Database File Format", 4.1 to 4.3.)
package struct LogHeader {
  let size: Int
  private let bytes: [UInt8]

  private static let headerLength = 32
  package static let frameHeaderLength = 24

  /// Nil where there is no log, or none that may be read.
  package init?(path: String) {
    guard let file = FileHandle(forReadingAtPath: path) else { return nil }
    defer { try? file.close() }
    guard let start = try? file.read(upToCount: Self.headerLength + Self.frameHeaderLength) else {
      (size, bytes) = (0, [])
      return
    }
    bytes = Array(start)
    size = Int((try? file.seekToEnd()) ?? 0)
  }

  /// Whether there is room for a header and a part of a page.
  var hasFrames: Bool { bytes.count == Self.headerLength + Self.frameHeaderLength }

  /// Whether the header itself is all there; without it there is nothing to ask for below.
  package var isWhole: Bool { bytes.count >= Self.headerLength }

  /// A log whose writer ended between the header and the first page, which can be an abrupt end of its program.
  var isHeaderOnly: Bool { size == Self.headerLength }

  package var pageSize: Int { bytes.bigEndian32(8) }
  /// As they lie in the file; the -shm has them in the same order.
  package var salts: [UInt8] { Array(bytes[16..<24]) }

  /// Whole frames that there is room for.
  package var frameCount: Int { (size - Self.headerLength) / (pageSize + Self.frameHeaderLength) }

  /// In bytes, of the frame's own header.
  package func offset(ofFrame number: Int) -> Int { Self.headerLength + number * (pageSize + Self.frameHeaderLength) }

  /// Without a header that sums up, SQLite takes the log for empty.
  package var isHeaderSound: Bool {
    let magic = bytes.bigEndian32(0)
    guard magic == 0x377f_0682 || magic == 0x377f_0683, bytes.bigEndian32(4) == 3_007_000 else { return false }
    guard pageSize >= 512, pageSize <= 65_536, pageSize.nonzeroBitCount == 1 else { return false }
    let sum = LogChecksum.of(bytes[0..<24], isBigEndian: magic & 1 == 1)
    return sum.0 == UInt32(bytes.bigEndian32(24)) && sum.1 == UInt32(bytes.bigEndian32(28))
  }

  /// Whether the first frame is one that this header, or one of the few before it, was written for. A log that starts
  /// over has a new header, whose first salt has counted up, before old frames.
  var isFirstFrameOfHeader: Bool {
    let frame = Self.headerLength + 8
    if Array(bytes[frame..<frame + 8]) == salts { return true }
    let step = UInt32(bytes.bigEndian32(16)) &- UInt32(bytes.bigEndian32(frame))
    return (1...Self.restartsUnseenMax).contains(step)
  }
  private static let restartsUnseenMax: UInt32 = 100
}

/// The header of a -shm: how far the log goes, and how much of it has been written back. (SQLite: "WAL-mode File
/// Format", 2.1 and 2.2.)
package struct LogIndexHeader: Equatable {
  let frameCount: Int
  let framesWrittenBack: Int
  package let salts: [UInt8]

  /// Nil where there is none that is whole: SQLite makes it anew then. Nobody may have the -shm in use.
  package init?(path: String) {
    guard let file = FileHandle(forReadingAtPath: path) else { return nil }
    defer { try? file.close() }
    guard let data = try? file.read(upToCount: Self.length) else { return nil }
    self.init(Array(data))
  }

  /// - Parameter bytes: The beginning of a -shm; nil where it is not whole.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.length else { return nil }
    // Two copies, so that a torn one shows. The numbers are in the order of the machine that wrote them.
    guard bytes[0..<48] == bytes[48..<96], bytes.littleEndian32(0) == 3_007_000, bytes[12] == 1 else { return nil }
    let sum = LogChecksum.of(bytes[0..<40], isBigEndian: false)
    guard Int(sum.0) == bytes.littleEndian32(40), Int(sum.1) == bytes.littleEndian32(44) else { return nil }
    frameCount = bytes.littleEndian32(16)
    salts = Array(bytes[32..<40])
    framesWrittenBack = bytes.littleEndian32(96)
  }

  package static let length = 136

  var framesOnlyInLog: Int { max(0, frameCount - framesWrittenBack) }
}

/// The checksum of logs and their indexes. (SQLite: "Database File Format", 4.2.)
enum LogChecksum {
  static func of(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) -> (UInt32, UInt32) {
    let bytes = Array(bytes)
    func word(_ place: Int) -> UInt32 {
      UInt32(isBigEndian ? bytes.bigEndian32(place) : bytes.littleEndian32(place))
    }
    var (first, second): (UInt32, UInt32) = (0, 0)
    for place in stride(from: 0, to: bytes.count, by: 8) {
      first = first &+ word(place) &+ second
      second = second &+ word(place + 4) &+ first
    }
    return (first, second)
  }
}
