import Dispatch
import Foundation
import Synchronization

/// Syncs written files to the disk on a thread of its own, so that the store can be written meanwhile.
final class DiskSync: Sendable {
  private let descriptors: [Int32]
  private let group = DispatchGroup()
  private let errorNumber = Atomic<Int32>(0)

  /// The files must stay open until `wait` has returned.
  init(_ descriptors: [Int32]) { self.descriptors = descriptors }

  func start() {
    DispatchQueue.global().async(group: group) {
      for descriptor in self.descriptors where fdatasync(descriptor) != 0 {
        // A pipe, for example, can't be synced at all, which is not a failure. The first real error counts.
        let number = errno
        if number == EINVAL { continue }
        _ = self.errorNumber.compareExchange(expected: 0, desired: number, ordering: .relaxed)
      }
    }
  }

  func wait() throws {
    group.wait()
    let number = errorNumber.load(ordering: .relaxed)
    if number != 0 { throw POSIXError(POSIXErrorCode(rawValue: number) ?? .EIO) }
  }
}

/// Renames a file and syncs the new name to the disk before anything relies on it.
package enum DurableRename {
  package static func move(_ source: String, to target: String) throws {
    guard rename(source, target) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    let folder = open(URL(fileURLWithPath: target).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A folder that may be written but not read can't be opened; the file is renamed nevertheless.
    if folder < 0 { return }
    defer { close(folder) }
    if fsync(folder) != 0, errno != EINVAL { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }
}
