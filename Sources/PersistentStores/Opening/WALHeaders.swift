import ManagedObjectModel
import Foundation
import SystemSupport

/// The header of a -wal. (SQLite: "Database File Format", 4.1 to 4.3.)
package struct WALHeader {
  let size: Int
  private let bytes: [UInt8]

  private static let headerLength = 32
  static let frameHeaderLength = 24

  /// Nil if there is no WAL or it may not be read.
  package init?(path: String) {
    guard let file = FileHandle.ofRegularFile(path) else { return nil }
    defer { try? file.close() }
    guard let start = try? file.read(upToCount: Self.headerLength + Self.frameHeaderLength) else {
      (size, bytes, isBlank) = (0, [], false)
      return
    }
    bytes = Array(start)
    isBlank = start.allSatisfy { $0 == 0 } && Self.isBlank(file)
    size = Int((try? file.seekToEnd()) ?? 0)
  }

  /// Whether the rest of the file is zeros.
  private static func isBlank(_ file: FileHandle) -> Bool {
    while let block = try? file.read(upToCount: 1 << 20), !block.isEmpty {
      if !block.allSatisfy({ $0 == 0 }) { return false }
    }
    return true
  }

  /// Whether the file is large enough for a header and part of a page.
  var hasFrames: Bool { bytes.count == Self.headerLength + Self.frameHeaderLength }

  /// Whether the header itself is complete; the properties below need it.
  package var isWhole: Bool { bytes.count >= Self.headerLength }

  /// A WAL whose writer ended between the header and the first page, for example because its program was killed.
  var isHeaderOnly: Bool { size == Self.headerLength }

  package var pageSize: Int { bytes.bigEndian32(8) }
  /// As in the file; the -shm has them in the same order.
  package var salts: [UInt8] { Array(bytes[16..<24]) }

  /// The number of complete frames that fit into the file.
  package var frameCount: Int { (size - Self.headerLength) / (pageSize + Self.frameHeaderLength) }

  /// Where the frame with this number begins, counted from 0.
  func offset(ofFrame number: Int) -> Int { Self.headerLength + number * (pageSize + Self.frameHeaderLength) }

  /// Whether nothing of the file has reached the disk, as after a power failure. The header is synced before the first
  /// frame, so an empty header before a frame is damage.
  let isBlank: Bool

  /// SQLite treats a WAL whose header checksum is wrong as empty.
  package var isHeaderSound: Bool {
    let magic = bytes.bigEndian32(0)
    guard magic == 0x377f_0682 || magic == 0x377f_0683, bytes.bigEndian32(4) == 3_007_000 else { return false }
    guard pageSize >= 512, pageSize <= 65_536, pageSize.nonzeroBitCount == 1 else { return false }
    return WALChecksum.of(bytes[0..<24], isBigEndian: isBigEndian) == checksum
  }

  /// Whether the checksum of its frames takes numbers as big-endian.
  var isBigEndian: Bool { bytes[3] & 1 == 1 }
  /// The checksum that the first frame's continues.
  var checksum: WALChecksum { WALChecksum(at: 24, in: bytes) }

  /// Whether the first frame can be in front of this header's own frames: it was written for this header or one of the
  /// few before it. A WAL that restarts has a new header, whose first salt has increased, in front of old frames.
  ///
  /// SQLite draws new salts for a header without earlier checkpoints. Such a header is written over frames of another
  /// one if a program was killed before its first commit, or between the restart of the WAL and its new header.
  var mayPrecedeFirstFrame: Bool {
    let frame = Self.headerLength + 8
    let found = Array(bytes[frame..<frame + 8])
    return found == salts || isLater(than: found) || checkpoints == 0
  }

  /// How often the WAL has restarted, as far as the connection that wrote the header knows.
  private var checkpoints: Int { bytes.bigEndian32(12) }

  /// Whether the first frame has not reached the disk although the header or a later frame has, as after a power failure.
  var isFirstFrameEmpty: Bool {
    bytes[Self.headerLength..<Self.headerLength + Self.frameHeaderLength].allSatisfy { $0 == 0 }
  }

  /// Whether the WAL has restarted since it had these salts: each restart increases the first one by 1.
  func isLater(than old: [UInt8]) -> Bool {
    (1...Self.restartsUnseenMax).contains(UInt32(bytes.bigEndian32(16)) &- UInt32(old.bigEndian32(0)))
  }
  private static let restartsUnseenMax: UInt32 = 100
}

/// The header of a -shm: the end of the WAL, and how much of it is checkpointed. (SQLite: "WAL-mode File Format", 2.1
/// and 2.2.)
package struct WALIndexHeader: Equatable {
  let frameCount: Int
  let framesWrittenBack: Int
  package let salts: [UInt8]

  /// Nil if it is missing or incomplete: SQLite then creates it again. No connection may have the -shm in use.
  package init?(path: String) {
    guard let file = FileHandle.ofRegularFile(path) else { return nil }
    defer { try? file.close() }
    guard let data = try? file.read(upToCount: Self.length) else { return nil }
    self.init(Array(data))
  }

  /// - Parameter bytes: The beginning of a -shm; nil if it is incomplete.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.length else { return nil }
    // There are two copies, so that a torn one is detected. The numbers have the byte order of the machine that wrote
    // them.
    guard bytes[0..<48] == bytes[48..<96], bytes.littleEndian32(0) == 3_007_000, bytes[12] == 1 else { return nil }
    let sum = WALChecksum.of(bytes[0..<40], isBigEndian: false)
    guard Int(sum.first) == bytes.littleEndian32(40), Int(sum.second) == bytes.littleEndian32(44) else { return nil }
    frameCount = bytes.littleEndian32(16)
    salts = Array(bytes[32..<40])
    framesWrittenBack = bytes.littleEndian32(96)
  }

  package static let length = 136

  var framesOnlyInWAL: Int { max(0, frameCount - framesWrittenBack) }
}
