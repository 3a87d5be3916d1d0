import Foundation
import OpenCoreData
import PersistentStores
import PipelineEngine

/// A complete store that a new one is copied from: a `.sqlite` with its `-wal`, which may contain all of its rows,
/// and its `-shm`.
///
/// The copy is made in a separate folder next to the store, checked, and then moved file by file, the `.sqlite` last:
/// an existing `.sqlite` is always a complete store. The next launch removes what a killed launch left. The folder of
/// the store is locked in the meantime, so that of two launches one copies and the other waits.
struct StoreSeed {
  /// The files that SQLite may keep next to a database, in the order in which they are moved.
  private static let companions = ["-shm", "-wal"]
  private static let bytesAtATime = 1 << 20
  private static let signature = Data("SQLite format 3\0".utf8)

  private let seed: String

  init(_ seed: URL) { self.seed = StorePath.resolved(seed.path) }

  /// Copies the seed to `store`, unless the file exists.
  func copyIfMissing(to store: URL, model: NSManagedObjectModel) throws(CoreDataStackError) {
    let folder = store.deletingLastPathComponent()
    let stage = store.path + ".seeding"
    if Self.exists(store.path) { return Self.clear(stage, in: folder) }
    try checkSeed()
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw CoreDataStackError("can't be created for the store", at: folder.path, error)
    }
    let lock = try FolderLock(folder.path)
    defer { lock.release() }
    try Self.remove(stage)
    // Another launch may have copied the seed in the meantime.
    if Self.exists(store.path) { return }
    do throws(CoreDataStackError) {
      try copy(to: stage, name: store.lastPathComponent)
      try Self.check(
        copy: URL(fileURLWithPath: stage).appendingPathComponent(store.lastPathComponent), model: model, seed: seed)
      try Self.move(from: stage, to: store)
    } catch {
      try? Self.remove(stage)
      throw error
    }
    try Self.remove(stage)
  }

  // MARK: The seed

  private func checkSeed() throws(CoreDataStackError) {
    guard FileManager.default.fileExists(atPath: seed) else {
      throw CoreDataStackError(
        .seedMissing, "the seed \(seed) does not exist; add it to the app's resources, with its -wal and -shm")
    }
    // SQLite removes both files when it closes a store properly, and never leaves only the -shm.
    guard !Self.exists(seed + "-shm") || Self.exists(seed + "-wal") else {
      throw CoreDataStackError(
        .seedWALMissing,
        "the seed \(seed) has a -shm and no -wal, in which its rows may be; add \(seed)-wal to the app's resources")
    }
    let head: Data?
    do {
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: seed))
      head = try file.read(upToCount: Self.signature.count)
      try file.close()
    } catch {
      throw CoreDataStackError(
        .copyFailed, "the seed \(seed) can't be read: \(error.localizedDescription); check its permissions",
        underlying: error)
    }
    guard head == Self.signature else {
      throw CoreDataStackError(
        .seedUnusable, "the seed \(seed) is not an SQLite database; replace it with a store of this model")
    }
  }

  // MARK: Copying

  private func copy(to stage: String, name: String) throws(CoreDataStackError) {
    do {
      try FileManager.default.createDirectory(atPath: stage, withIntermediateDirectories: false)
    } catch {
      throw CoreDataStackError("can't be created for the copy of the seed", at: stage, error)
    }
    for suffix in Self.companions + [""] where Self.exists(seed + suffix) {
      try Self.copyFile(seed + suffix, to: "\(stage)/\(name)\(suffix)")
    }
  }

  /// Copies and syncs a file. The copy is writable even if the seed is not.
  private static func copyFile(_ source: String, to target: String) throws(CoreDataStackError) {
    do {
      let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: source))
      try Data().write(to: URL(fileURLWithPath: target))
      let output = try FileHandle(forWritingTo: URL(fileURLWithPath: target))
      while let bytes = try input.read(upToCount: bytesAtATime), !bytes.isEmpty {
        try WholeWrite.write([UInt8](bytes), to: output.fileDescriptor)
      }
      try WholeWrite.sync(output.fileDescriptor)
      try output.close()
      try input.close()
    } catch {
      throw CoreDataStackError("can't be copied from the seed", at: target, error)
    }
  }

  /// Checks the copy before it is moved: a seed of another model would block the store's path permanently.
  private static func check(
    copy: URL, model: NSManagedObjectModel, seed: String
  ) throws(CoreDataStackError) {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    do {
      let opened = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: copy,
        options: [NSReadOnlyPersistentStoreOption: NSNumber(value: true)])
      try coordinator.remove(opened)
    } catch {
      throw CoreDataStackError(
        .seedUnusable, "the seed \(seed) can't be used: \(error.localizedDescription)", underlying: error)
    }
  }

  // MARK: Into place

  private static func move(from stage: String, to store: URL) throws(CoreDataStackError) {
    // Files without their database belong to a killed launch or a removed store. SQLite would use them for the new
    // store; it discards them itself only when it creates a database.
    for suffix in companions + ["-journal"] { try remove(store.path + suffix) }
    for suffix in companions + [""] {
      let source = "\(stage)/\(store.lastPathComponent)\(suffix)"
      guard exists(source) else { continue }
      do {
        // Each file is on the disk under its name before the next is moved, so the .sqlite follows everything that
        // belongs to it.
        try DurableRename.move(source, to: store.path + suffix)
      } catch {
        throw CoreDataStackError("can't be moved into place", at: store.path + suffix, error)
      }
    }
  }

  /// Removes the empty folder that a launch killed after the last move has left. A failure does not matter: the store
  /// is complete.
  private static func clear(_ stage: String, in folder: URL) {
    guard exists(stage), let lock = try? FolderLock(folder.path) else { return }
    defer { lock.release() }
    try? remove(stage)
  }

  private static func remove(_ path: String) throws(CoreDataStackError) {
    guard exists(path) else { return }
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      throw CoreDataStackError("blocks the copy of the seed and can't be removed", at: path, error)
    }
  }

  /// True also for a dangling link, which must not be overwritten.
  private static func exists(_ path: String) -> Bool {
    (try? FileManager.default.attributesOfItem(atPath: path)) != nil
  }
}

/// An exclusive flock(2) on the folder itself, so that no lock file is left behind. Waits for the lock.
struct FolderLock {
  private let descriptor: Int32

  init(_ folder: String) throws(CoreDataStackError) {
    descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    var code = descriptor < 0 ? errno : 0
    while code == 0, flock(descriptor, LOCK_EX) != 0 {
      if errno != EINTR { code = errno }
    }
    if code == 0 { return }
    if descriptor >= 0 { close(descriptor) }
    throw CoreDataStackError(
      "can't be locked while the seed is copied", at: folder, POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO))
  }

  func release() { close(descriptor) }
}
