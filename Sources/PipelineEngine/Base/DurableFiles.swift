import CSV
import Dispatch
import Foundation
import SystemSupport
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
      for descriptor in self.descriptors where uninterrupted({ fdatasync(descriptor) }) != 0 {
        // A pipe, for example, can't be synced at all, which is not a failure. The first real error counts.
        let number = errno
        if number == EINVAL { continue }
        _ = self.errorNumber.compareExchange(expected: 0, desired: number, ordering: .relaxed)
      }
    }
  }

  /// - Returns: The number of the first error; nil where everything is on the disk.
  func wait() -> Int32? {
    group.wait()
    let number = errorNumber.load(ordering: .relaxed)
    return number == 0 ? nil : number
  }
}

/// Renames a file and syncs the new name to the disk before anything relies on it.
package enum DurableRename {
  package static func move(_ source: String, to target: String) throws(POSIXError) {
    guard rename(source, target) == 0 else { throw POSIXError.last }
    try syncFolder(of: target)
  }

  /// Makes the names in the folder of a file durable.
  static func syncFolder(of path: String) throws(POSIXError) {
    let code = FolderNames.sync(URL(fileURLWithPath: path).deletingLastPathComponent().path)
    if code != 0 { throw POSIXError(code) }
  }
}

/// Writes a file that appears complete and on the disk, or not at all.
package enum WholeFile {
  package static func write(
    _ bytes: [UInt8], to path: String, permissions: UInt32 = ByteSink.permissionsMax
  ) throws(RunFailure) {
    do throws(CSVError) {
      let sink = try ByteSink(path: path, permissions: permissions)
      try sink.write(bytes)
      try sink.commit()
    } catch {
      throw RunFailure(error)
    }
  }
}

/// Writes to a descriptor as many times as it takes, and syncs it. Foundation's file handle takes a write that stored less
/// than it got for a complete one, and a sync that a signal interrupts for a failed one.
package enum WholeWrite {
  package static func write(_ bytes: [UInt8], to descriptor: Int32) throws(POSIXError) {
    do throws(CSVError) {
      try writeAll(bytes, to: descriptor, name: "")
    } catch {
      throw POSIXError(error.errnoCode ?? EIO)
    }
  }

  package static func sync(_ descriptor: Int32) throws(POSIXError) {
    if uninterrupted({ fsync(descriptor) }) != 0 { throw POSIXError.last }
  }
}

/// The permissions of files that are made next to a store.
enum FileRights {
  /// Those of any new file, but no more than the store's: what is private there must not become public elsewhere.
  ///
  /// - Parameters:
  ///   - path: The file, or one in the same folder. Its group may be another one than the store's: its members then get
  ///     what everybody has.
  ///   - store: The store's path.
  static func ofFile(_ path: String, near store: String?) -> UInt32 {
    guard let store, let status = stat.of(store) else { return ByteSink.permissionsMax }
    let mode = UInt32(status.st_mode)
    let folder = OutputPath.folder(of: path)
    var group = mode >> 3 & 7
    // With a list of the folder's own the group's bits are the most that the users and groups of the list get.
    if !AccessList.isInherited(in: folder) {
      group =
        status.st_gid == groupOfNewFiles(in: folder) ? AccessList.groupRights(of: store, mode: mode) : mode & 7
    }
    return ByteSink.permissionsMax & (mode & 0o707 | group << 3)
  }

  /// A folder with the set-group-ID bit gives its files its own group (open(2)).
  private static func groupOfNewFiles(in folder: String) -> gid_t {
    guard let status = stat.of(folder), status.st_mode & S_ISGID != 0 else { return getegid() }
    return status.st_gid
  }
}
