import CSQLite
import Foundation
import ManagedObjectModel

/// Checks a WAL that no connection has in use.
extension StoreFileCheck {
  /// A program that closes the store at this moment removes its files one after the other. A problem counts only if it
  /// still exists a little later.
  ///
  /// - Returns: The error if the WAL has signs that it is another file's (those of its content say more), and what the
  ///   WAL lacks, if that is accepted.
  func checkWAL() throws -> (foreign: NSError?, loss: String?) {
    var found = try problems()
    if found.own != nil || found.foreign != nil || found.loss != nil {
      usleep(50_000)
      found = try problems()
    }
    if let problem = found.own { throw problem }
    return (found.foreign, found.loss)
  }

  private struct Findings {
    var own: NSError?
    var foreign: NSError?
    var loss: String?
  }

  private func problems() throws -> Findings {
    let wal = WALHeader(path: walPath)
    let index = WALIndexHeader(path: indexPath)
    let lacks = index.flatMap { missing($0, wal) }
    guard let wal, wal.hasFrames, !(purpose.acceptsLosses && wal.isBlank) else {
      guard purpose.acceptsLosses else { return Findings(own: lacks.map(refusal)) }
      let isBlank = wal?.isBlank == true && wal?.hasFrames == true
      return Findings(loss: isBlank ? "The WAL \(walPath) holds nothing but zeros" : lacks.map(lossText))
    }
    if let problem = problem(of: wal) ?? problem(of: wal, index) { return Findings(own: problem) }
    let frames = WALFrames(path: walPath, header: wal, pagesInFile: pagesInFile)
    if frames.isUnreadable { throw SQLiteError(code: SQLITE_IOERR, message: "\(walPath) can't be read", sql: nil) }
    var found = Findings(foreign: foreign(frames))
    guard purpose != .readingDamagedWAL else { return found }
    if let loss = frames.loss(seenBy: index) {
      // A power failure leaves frames unwritten that were not synced. SQLite goes on without them.
      if purpose.acceptsLosses, !loss.isAltered {
        found.loss = "The WAL \(walPath) is incomplete: \(text(of: loss, in: frames))"
      } else {
        found.own = damage(loss, in: frames)
      }
    } else if wal.salts == index?.salts {
      found.loss = lacks.map(lossText)
    }
    return found
  }

  // MARK: The header

  private func problem(of wal: WALHeader) -> NSError? {
    guard wal.isHeaderSound else {
      return problem(
        "The WAL \(walPath) is damaged: the checksum of its header is wrong, and SQLite would treat it as empty. "
          + "\(together) To continue without what is in the WAL, remove it and \(indexPath).")
    }
    guard wal.pageSize == header.pageSize else {
      return problem(
        "The WAL \(walPath) does not belong to the store \(path): its pages have \(wal.pageSize) bytes, those of the "
          + "store \(header.pageSize). \(together)")
    }
    // An empty frame is examined with those that follow it.
    guard wal.mayPrecedeFirstFrame || wal.isFirstFrameEmpty else {
      return problem(
        "The WAL \(walPath) is damaged: its first page was not written under its header, and SQLite would "
          + "treat it as empty. \(together) To continue without what is in the WAL, remove it and \(indexPath).")
    }
    return nil
  }

  // MARK: The index

  /// SQLite makes a new index from the WAL when it opens a store that no one has in use. So an index of an earlier
  /// generation, as a power failure leaves it, matters only if it shows that the WAL is not the file's.
  private func problem(of wal: WALHeader, _ index: WALIndexHeader?) -> NSError? {
    guard let index, index.frameCount > 0 else { return nil }
    if wal.salts == index.salts { return purpose.acceptsLosses ? nil : missing(index, wal).map(refusal) }
    guard index.framesOnlyInWAL > 0, !wal.isLater(than: index.salts) else { return nil }
    return problem(
      "The WAL \(walPath) and \(indexPath) are not from the same time: files of different copies were mixed. "
        + "\(together) If the machine went down while the store was written to, remove \(indexPath), which is rebuilt "
        + "from the WAL.")
  }

  /// Pages that the index refers to and that neither the file nor the WAL has; nil if there are none. The index is never
  /// synced: after a power failure it may know more than the WAL.
  private func missing(_ index: WALIndexHeader, _ wal: WALHeader?) -> (pages: Int, what: String)? {
    guard index.framesOnlyInWAL > 0 else { return nil }
    let present = wal.map { $0.hasFrames && !$0.isBlank ? $0.frameCount : 0 }
    guard (present ?? 0) < index.frameCount else { return nil }
    let what = present.map { "is cut off after \($0) of \(index.frameCount) pages" } ?? "is missing"
    return (index.framesOnlyInWAL, what)
  }

  private func refusal(_ missing: (pages: Int, what: String)) -> NSError {
    problem(
      "The store \(path) needs its WAL \(walPath), which \(missing.what): \(missing.pages) pages were not written into "
        + "the file yet. \(together) To continue without them, remove \(indexPath).")
  }

  private func lossText(_ missing: (pages: Int, what: String)) -> String {
    "The WAL \(walPath) \(missing.what), and \(missing.pages) pages were not written into the store yet"
  }

  // MARK: The frames

  private func damage(_ loss: WALFrames.Loss, in frames: WALFrames) -> NSError {
    problem(
      "The WAL \(walPath) is damaged: \(text(of: loss, in: frames)). Restore the store from a copy. \(together)",
      isDamage: true)
  }

  private func text(of loss: WALFrames.Loss, in frames: WALFrames) -> String {
    let transactions =
      loss.commits.map { $0 == 1 ? " with the end of 1 transaction" : " with the ends of \($0) transactions" } ?? ""
    return "of its \(frames.committed + loss.frames) pages SQLite sees only \(frames.committed), and "
      + "\(loss.frames) \(loss.frames == 1 ? "is" : "are") lost\(transactions)"
  }

  /// Signs that the WAL was written for another file: each WAL goes on from the state of its file.
  private func foreign(_ frames: WALFrames) -> NSError? {
    guard frames.committed > 0 else { return nil }
    if let first = frames.firstPages.first {
      // Each writer increases the counter that it has read by 1. A checkpoint brings one of them into the file.
      let greatest = frames.firstPages.map(\.change).max() ?? 0
      guard (first.change - 1...max(first.change - 1, greatest)).contains(header.counters.change) else {
        return foreign(
          "it changes the store from its change \(first.change - 1) on, and the file is at \(header.counters.change)")
      }
      guard frames.firstPages.contains(where: { $0.schema >= header.counters.schema }) else {
        return foreign("it has an older schema than the file")
      }
    }
    // SQLite has no page at this offset.
    let locks = 0x4000_0000 / header.pageSize + 1
    guard frames.pageCount > pagesInFile else { return nil }
    let missing = (pagesInFile + 1...frames.pageCount).first { !frames.pagesBeyondFile.contains($0) && $0 != locks }
    return missing.map {
      foreign("the store has \(frames.pageCount) pages with it, and page \($0) is neither in the file nor in the WAL")
    }
  }

  private func foreign(_ reason: String) -> NSError {
    problem("The WAL \(walPath) does not belong to the store \(path): \(reason). \(together)")
  }

  // MARK: Words

  private func problem(_ message: String, isDamage: Bool = false) -> NSError {
    .coreData(.open, message, userInfo: isDamage ? [NSError.damagedWALKey: true] : [:])
  }

  var together: String {
    "Bring \(path), \(walPath) and \(indexPath) together, all three as they were in one place at one time: only "
      + "together they are the store."
  }
}

extension NSError {
  fileprivate static let damagedWALKey = "OpenCoreDataDamagedWAL"

  /// Whether the store can be read without what a damaged WAL has lost (`StoreFileCheck.Purpose.readingDamagedWAL`).
  package var isOfDamagedWAL: Bool { userInfo[Self.damagedWALKey] as? Bool == true }
}
