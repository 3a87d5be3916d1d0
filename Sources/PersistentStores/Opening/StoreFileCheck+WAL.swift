import ManagedObjectModel
import Foundation

/// Checks a WAL that no connection has in use.
extension StoreFileCheck {
  /// A program that closes the store at this moment removes its files one after the other. A problem counts only if it
  /// still exists a little later.
  ///
  /// - Returns: The error if the WAL has signs that it is another file's. Those of its content say more.
  func checkWAL() throws -> NSError? {
    var found = problems()
    if found.own != nil || found.foreign != nil {
      usleep(50_000)
      found = problems()
    }
    if let problem = found.own { throw problem }
    return found.foreign
  }

  private func problems() -> (own: NSError?, foreign: NSError?) {
    let wal = WALHeader(path: walPath)
    let index = WALIndexHeader(path: indexPath)
    guard let wal, wal.hasFrames, !(purpose.acceptsLosses && wal.isBlank) else {
      return (index.flatMap { missing($0, wal) }, nil)
    }
    if let problem = problem(of: wal) ?? problem(of: wal, index) { return (problem, nil) }
    let frames = WALFrames(path: walPath, header: wal, pagesInFile: pagesInFile)
    return (purpose == .readingDamagedWAL ? nil : damage(frames, seenBy: index), foreign(frames))
  }

  // MARK: The header

  private func problem(of wal: WALHeader) -> NSError? {
    guard wal.isHeaderSound else {
      return problem(
        "The WAL \(walPath) is damaged: the checksum of its header is wrong, and SQLite would treat it as empty. "
          + "\(together) To go on without what is in the WAL, remove it and \(indexPath).")
    }
    guard wal.pageSize == header.pageSize else {
      return problem(
        "The WAL \(walPath) does not belong to the store \(path): its pages have \(wal.pageSize) bytes, those of the "
          + "store \(header.pageSize). \(together)")
    }
    // An empty frame is examined with those that follow it.
    guard wal.isFirstFrameOfHeader || wal.isFirstFrameEmpty else {
      return problem(
        "The WAL \(walPath) is damaged: its first page was not written under its header, and SQLite would "
          + "treat it as empty. \(together) To go on without what is in the WAL, remove it and \(indexPath).")
    }
    return nil
  }

  // MARK: The index

  /// SQLite makes a new index from the WAL when it opens a store that no one has in use. So an index of an earlier
  /// generation, as a power failure leaves it, matters only if it shows that the WAL is not the file's.
  private func problem(of wal: WALHeader, _ index: WALIndexHeader?) -> NSError? {
    guard let index, index.frameCount > 0 else { return nil }
    if wal.salts == index.salts { return missing(index, wal) }
    guard index.framesOnlyInWAL > 0, !wal.isLater(than: index.salts) else { return nil }
    return problem(
      "The WAL \(walPath) and \(indexPath) are not from the same time: files of different copies were mixed. "
        + "\(together) If the machine went down while the store was written to, remove \(indexPath), which is rebuilt "
        + "from the WAL.")
  }

  /// Whether the index refers to pages that neither the file nor the WAL has. The index is never synced: after a power
  /// failure it may know more than the WAL.
  private func missing(_ index: WALIndexHeader, _ wal: WALHeader?) -> NSError? {
    guard index.framesOnlyInWAL > 0, !purpose.acceptsLosses else { return nil }
    let present = wal.map { $0.hasFrames ? $0.frameCount : 0 }
    guard (present ?? 0) < index.frameCount else { return nil }
    let what =
      present.map { "which is cut off after \($0) of \(index.frameCount) pages" } ?? "which is missing"
    return problem(
      "The store \(path) needs its WAL \(walPath), \(what): \(index.framesOnlyInWAL) pages were not written into the "
        + "file yet. \(together) To go on without them, remove \(indexPath).")
  }

  // MARK: The frames

  private func damage(_ frames: WALFrames, seenBy index: WALIndexHeader?) -> NSError? {
    guard let loss = frames.loss(seenBy: index) else { return nil }
    // A power failure leaves frames unwritten that were not synced. SQLite goes on without them.
    if purpose.acceptsLosses, !loss.isAltered { return nil }
    let transactions =
      loss.commits.map { $0 == 1 ? " with the end of 1 transaction" : " with the ends of \($0) transactions" } ?? ""
    return problem(
      "The WAL \(walPath) is damaged: of its \(frames.committed + loss.frames) pages SQLite sees only "
        + "\(frames.committed), and \(loss.frames) are lost\(transactions). Restore the store from a copy. \(together)",
      isDamage: true)
  }

  /// Signs that the WAL was written for another file: each log goes on from the state of its file.
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
    // SQLite has no page at this place.
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
    "Bring \(path), \(walPath) and \(indexPath) together, all three as they were in one place at one time: only together "
      + "they are the store."
  }
}

extension NSError {
  fileprivate static let damagedWALKey = "OpenCoreDataDamagedWAL"

  /// Whether the store can be read without what a damaged WAL has lost (`StoreFileCheck.Purpose.readingDamagedWAL`).
  package var isOfDamagedWAL: Bool { userInfo[Self.damagedWALKey] as? Bool == true }
}
