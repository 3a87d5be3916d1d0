import Foundation
import OpenCoreData
import PipelineEngine

/// A ready store that a new one begins as: a `.sqlite` with its `-wal`, in which all of its rows may be, and its
/// `-shm`.
///
/// The copy is made in a folder of its own beside the store's place, looked at, and then moved into place file by file,
/// the `.sqlite` last: whoever finds a `.sqlite` finds the whole store. What a killed launch left is thrown away by
/// the next. The folder of the store is locked meanwhile, so that of two launches one copies and the other waits.
struct StoreSeed {
  /// What SQLite may keep beside a database, in the order in which it is moved into place.
  private static let companions = ["-shm", "-wal"]
  private static let bytesAtATime = 1 << 20
  private static let signature = Data("SQLite format 3\0".utf8)

  private let seed: String

  init(_ seed: URL) { self.seed = seed.path }

  /// Copies the seed to `store`, unless there is something already.
  func copyIfMissing(to store: URL, model: NSManagedObjectModel) throws(CoreDataStackError) {
    let folder = store.deletingLastPathComponent()
    let stage = store.path + ".seeding"
    if Self.exists(store.path) { return Self.clear(stage, in: folder) }
    try checkSeed()
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw CoreDataStackError("can't be made for the store", at: folder.path, error)
    }
    let lock = try FolderLock(folder.path)
    defer { lock.release() }
    try Self.remove(stage)
    // Another launch may have been quicker.
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
        .seedMissing, "there is no seed \(seed); add it to the app's resources, with its -wal and -shm beside it")
    }
    // SQLite removes both when it closes a store in order, and the -shm alone is never left.
    guard !Self.exists(seed + "-shm") || Self.exists(seed + "-wal") else {
      throw CoreDataStackError(
        .seedLogMissing,
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
        .seedUnusable, "the seed \(seed) is no SQLite database; put a store that this model made in its place")
    }
  }

  // MARK: Copying

  private func copy(to stage: String, name: String) throws(CoreDataStackError) {
    do {
      try FileManager.default.createDirectory(atPath: stage, withIntermediateDirectories: false)
    } catch {
      throw CoreDataStackError("can't be made for the copy of the seed", at: stage, error)
    }
    for suffix in Self.companions + [""] where Self.exists(seed + suffix) {
      try Self.copyFile(seed + suffix, to: "\(stage)/\(name)\(suffix)")
    }
  }

  /// Onto the disk itself. The copy can be written to, whatever the seed can.
  private static func copyFile(_ source: String, to target: String) throws(CoreDataStackError) {
    do {
      let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: source))
      try Data().write(to: URL(fileURLWithPath: target))
      let output = try FileHandle(forWritingTo: URL(fileURLWithPath: target))
      while let bytes = try input.read(upToCount: bytesAtATime), !bytes.isEmpty { try output.write(contentsOf: bytes) }
      try output.synchronize()
      try output.close()
      try input.close()
    } catch {
      throw CoreDataStackError("can't be copied from the seed", at: target, error)
    }
  }

  /// A seed of another model would be in the way for good once it is in place.
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
    // Logs without their database are of a killed launch, or of a store that was removed: SQLite would take them for
    // the new one's. It drops them itself where it makes a database.
    for suffix in companions + ["-journal"] { try remove(store.path + suffix) }
    for suffix in companions + [""] {
      let source = "\(stage)/\(store.lastPathComponent)\(suffix)"
      guard exists(source) else { continue }
      do {
        // Each is on the disk under its name before the next is, and so the .sqlite after all that belongs to it.
        try DurableRename.move(source, to: store.path + suffix)
      } catch {
        throw CoreDataStackError("can't be moved into place", at: store.path + suffix, error)
      }
    }
  }

  /// A launch that was killed when the store was in place has left an empty folder. Whoever can't remove it has the
  /// store all the same.
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
      throw CoreDataStackError("is in the way of the seed and can't be removed", at: path, error)
    }
  }

  /// Also a link that leads nowhere: it is not to be written over.
  private static func exists(_ path: String) -> Bool {
    (try? FileManager.default.attributesOfItem(atPath: path)) != nil
  }
}

/// An exclusive flock(2) on a folder itself, so that no file is left behind. Waits for its turn.
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
