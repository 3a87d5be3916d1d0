import Foundation
import SystemSupport

/// The frames of a WAL, each checked against its salts and its checksum, which continues that of the frame before it.
/// (SQLite: "Database File Format", 4.1 to 4.4.)
///
/// SQLite reads a WAL up to the first frame that is not valid, and drops an unfinished transaction before it. Frames
/// after that frame may be of an earlier generation of the WAL, or of a transaction that a crash ended: neither is
/// damage. Frames of this generation that end a transaction are: they were written after the frame that is not valid.
package struct WALFrames {
  /// The frames up to the end of the last transaction that SQLite sees.
  package private(set) var committed = 0
  private(set) var commits = 0
  /// The number of pages of the database after the last transaction.
  private(set) var pageCount = 0
  /// Frames, and transactions that end in them, which follow the seen ones and were certainly written.
  private var framesLost = 0
  private var commitsLost = 0
  /// Whether the frame that is not valid was changed after it was written. Otherwise a machine that went down may have
  /// left it so, and what it lacks was never synced.
  private var isAltered = false
  /// Whether the system has refused to read a part of the file: then nothing is known of the rest.
  private(set) var isUnreadable = false
  /// From the copies of the first page in the seen frames, in order.
  private(set) var firstPages: [DatabaseHeader.Counters] = []
  /// The numbers of pages that the database file does not have.
  private(set) var pagesBeyondFile: Set<Int> = []

  private struct Frame {
    let offset: Int
    let bytes: [UInt8]
    var page: Int { bytes.bigEndian32(0) }
    /// The database's size in pages, for the last frame of a transaction; otherwise 0.
    var commit: Int { bytes.bigEndian32(4) }
    var salts: ArraySlice<UInt8> { bytes[8..<16] }
    var checksum: WALChecksum { WALChecksum(at: 16, in: bytes) }

    func sum(after checksum: WALChecksum, isBigEndian: Bool) -> WALChecksum {
      let start = checksum.continued(over: bytes, 0..<8, isBigEndian: isBigEndian)
      return start.continued(over: bytes, WALHeader.frameHeaderLength..<bytes.count, isBigEndian: isBigEndian)
    }
  }

  private let header: WALHeader
  private let pagesInFile: Int

  /// - Parameters:
  ///   - path: The WAL.
  ///   - header: Its header, which is sound.
  ///   - pagesInFile: The number of pages that the database file has.
  package init(path: String, header: WALHeader, pagesInFile: Int) {
    self.header = header
    self.pagesInFile = pagesInFile
    guard let file = FileHandle.ofRegularFile(path) else { return }
    defer { try? file.close() }
    var reader = Reader(file: file, header: header)
    defer { isUnreadable = reader.hasFailed }
    reader.hasFailed = (try? file.seek(toOffset: UInt64(header.offset(ofFrame: 0)))) == nil
    if reader.hasFailed { return }
    guard let (invalid, checksum) = readValid(&reader) else { return }
    examine(invalid, after: checksum, &reader)
  }

  /// What SQLite leaves out of a damaged WAL.
  package struct Loss {
    let frames: Int
    /// Nil if they can't be counted.
    let commits: Int?
    /// Whether a power failure does not explain it.
    let isAltered: Bool
  }

  /// Nil if the WAL is not known to be damaged. An index of the WAL's generation knows the end of the last transaction.
  /// Without one, only frames that were certainly written show that the WAL should go on.
  package func loss(seenBy index: WALIndexHeader?) -> Loss? {
    guard let index, index.salts == header.salts, index.frameCount > 0 else {
      return framesLost > 0 ? Loss(frames: framesLost, commits: commitsLost, isAltered: isAltered) : nil
    }
    // If all pages are written back, either all or none must be seen in the WAL: older ones would hide newer ones.
    let isNeeded = index.framesOnlyInWAL > 0 || committed > 0
    guard isNeeded, committed < index.frameCount else { return nil }
    // A power failure may leave an index that knows more than what was synced of the WAL.
    return Loss(frames: index.frameCount - committed, commits: nil, isAltered: isAltered)
  }

  /// Reads whole frames.
  private struct Reader {
    let file: FileHandle
    let header: WALHeader
    private var number = 0
    fileprivate(set) var hasFailed = false

    init(file: FileHandle, header: WALHeader) {
      self.file = file
      self.header = header
    }

    mutating func next() -> Frame? {
      let length = header.pageSize + WALHeader.frameHeaderLength
      let data: Data?
      do { data = try file.read(upToCount: length) } catch {
        hasFailed = true
        return nil
      }
      guard let data, data.count == length else { return nil }
      defer { number += 1 }
      return Frame(offset: header.offset(ofFrame: number), bytes: [UInt8](data))
    }
  }

  /// - Returns: The first frame that is not valid, with the checksum that it should continue; nil if all are valid.
  private mutating func readValid(_ reader: inout Reader) -> (Frame, WALChecksum)? {
    var checksum = header.checksum
    var count = 0
    var open: (firstPages: [DatabaseHeader.Counters], beyond: Set<Int>) = ([], [])
    while let frame = reader.next() {
      guard frame.salts.elementsEqual(header.salts), frame.page > 0,
        frame.sum(after: checksum, isBigEndian: header.isBigEndian) == frame.checksum
      else { return (frame, checksum) }
      checksum = frame.checksum
      count += 1
      if frame.page == 1 { open.firstPages.append(.init(frame.bytes, at: WALHeader.frameHeaderLength)) }
      if frame.page > pagesInFile { open.beyond.insert(frame.page) }
      guard frame.commit > 0 else { continue }
      (committed, commits, pageCount) = (count, commits + 1, frame.commit)
      firstPages += open.firstPages
      pagesBeyondFile.formUnion(open.beyond)
      open = ([], [])
    }
    return nil
  }

  /// A frame after the invalid one that ends a transaction was written after it. Its salts alone show that it is of this
  /// generation: damage may have spread to its page, or to the frame before it.
  private mutating func examine(_ invalid: Frame, after checksum: WALChecksum, _ reader: inout Reader) {
    let damage = damage(to: invalid, after: checksum)
    var count = 1
    var ends = damage.isCommit ? 1 : 0
    if damage.isCertain, ends > 0 { (framesLost, commitsLost) = (1, 1) }
    while let frame = reader.next() {
      count += 1
      guard frame.salts.elementsEqual(header.salts), isSizeLikely(frame.commit) else { continue }
      ends += 1
      (framesLost, commitsLost) = (count, ends)
    }
    isAltered = damage.isCertain
    guard framesLost > 0 else { return }
    framesLost += validFrames(before: invalid) - committed
  }

  private func validFrames(before invalid: Frame) -> Int {
    (invalid.offset - header.offset(ofFrame: 0)) / invalid.bytes.count
  }

  /// Whether the frame was written as a whole and changed later: a checksum that continues although the salts differ,
  /// or a single wrong word, cannot be the result of a write that ended early. A frame that ends a transaction.
  private func damage(to frame: Frame, after checksum: WALChecksum) -> (isCertain: Bool, isCommit: Bool) {
    let sum = frame.sum(after: checksum, isBigEndian: header.isBigEndian)
    let isOfWAL = frame.salts.elementsEqual(header.salts)
    if sum == frame.checksum { return (true, frame.commit > 0) }
    guard isOfWAL else { return (false, false) }
    if sum.first == frame.checksum.first || sum.second == frame.checksum.second { return (true, frame.commit > 0) }
    let wrong = sum.wrongWords(for: frame.checksum, of: header.pageSize / 4 + 2).filter { !isMissing($0, in: frame) }
    guard frame.commit == 0, let error = wrong.first(where: { $0.number == 1 })?.error else {
      return (!wrong.isEmpty, frame.commit > 0)
    }
    // The word that says how large the database is at the end of a transaction.
    return (true, isSizeLikely(Int(header.isBigEndian ? error : error.byteSwapped)))
  }

  /// Whether the database can have so many pages: each frame adds at most one.
  private func isSizeLikely(_ pages: Int) -> Bool {
    pages > 0 && pages <= max(pagesInFile, pageCount) + header.frameCount
  }

  /// Whether the wrong word may be one that was not written: nothing of its block is there. A single flipped bit is
  /// never taken for that.
  private func isMissing(_ word: (number: Int, error: UInt32), in frame: Frame) -> Bool {
    // The first two words are those of the frame's header.
    guard word.number >= 2, word.error.nonzeroBitCount > 1 else { return false }
    let offset = (word.number - 2) * 4 / Self.blockLength * Self.blockLength + WALHeader.frameHeaderLength
    return frame.bytes[offset..<min(offset + Self.blockLength, frame.bytes.count)].allSatisfy { $0 == 0 }
  }
  /// The least that a disk writes.
  private static let blockLength = 512
}
