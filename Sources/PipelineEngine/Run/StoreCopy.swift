import Foundation
import SystemSupport
import OpenCoreData
import PersistentStores

/// Copies a store into a new one of another kind: from a SQLite file into a database of a PostgreSQL server, or back.
///
/// ```swift
/// let count = try StoreCopy.copy(
///   "journal.sqlite", to: "postgresql://loader@db.example/journal", vocabulary: .journal)
/// print("\(count) objects")
/// ```
public enum StoreCopy {
  /// Why a store can't be copied.
  public struct Failure: Error, Sendable {
    /// What is wrong, and a remedy.
    public let message: String
    /// The exit status of a program that can't go on.
    public let exitCode: ExitCode
  }

  /// Copies all objects with their keys, versions, values and relationships, and the ledger: what was imported into the
  /// store is known in the copy, can be taken back there, and is continued there if it was interrupted. The copy is
  /// complete or there is none. A store with an open plan is refused: in the copy a part of its import would stay that no
  /// worker goes on with. A persistent history is not copied.
  ///
  /// - Parameters:
  ///   - source: The path or the address of the store.
  ///   - target: The path or the address of the copy, where there is no store yet, or one without objects.
  ///   - name: The name or path of the store's model; nil for one that is compatible with the store.
  ///   - vocabulary: The vocabulary of the program.
  ///   - timeoutSeconds: How long to wait for a store that another program writes to.
  /// - Returns: The number of objects.
  /// - Throws: ``Failure``
  @discardableResult
  public static func copy(
    _ source: String, to target: String, model name: String? = nil, vocabulary: DefinitionVocabulary,
    timeoutSeconds: Double = 10
  ) throws(Failure) -> Int {
    let (from, to) = (StoreLocation(source), StoreLocation(target))
    do {
      guard from.exists else { throw RunFailure(noStore: from.shown) }
      try checkPlans(
        of: from, vocabulary, timeoutSeconds: timeoutSeconds, consequence: "the copy would have a part of its import",
        action: "take back its rows with 'undo', and copy then")
      if !to.isServer {
        try RunFailure.checkKind(ofStore: target, mayBeMade: true)
        try checkName(target, of: from)
      } else if to.exists {
        try checkPlans(
          of: to, vocabulary, timeoutSeconds: timeoutSeconds, consequence: "its workers would add to the copy",
          action: "and copy then")
      }
      let definition = PipelineDefinition(name: "copy", entity: "", vocabulary: vocabulary).using(model: name)
      let found = try RunModel(definition, given: nil, store: source, access: .init(timeoutSeconds: timeoutSeconds))
      if found.isOfTables { throw RunModel.unknownModel(of: from.shown) }
      let lock = try StoreLock(to, vocabulary, pipeline: "copy", now: Date(), timeoutSeconds: timeoutSeconds)
      defer { lock.release() }
      return try copy(
        from, to: to, model: found.model, LedgerTables(vocabulary), timeoutSeconds: timeoutSeconds)
    } catch let mistake as PipelineError {
      throw Failure(message: mistake.message, exitCode: .configuration)
    } catch let version as LedgerVersionError {
      throw Failure(message: version.description, exitCode: .dataError)
    } catch {
      let failure = error as? RunFailure ?? RunFailure(store: error as NSError, path: nil)
      throw Failure(message: failure.message, exitCode: failure.exitCode)
    }
  }

  /// Refuses a copy in the place of what belongs next to the store.
  private static func checkName(_ target: String, of source: StoreLocation) throws(RunFailure) {
    do {
      try OutputPath.check([target], key: "copy", areNotNextTo: source.path)
    } catch {
      throw RunFailure(code: nil, exitCode: .usage, message: error.message)
    }
  }

  /// Throws if workers of a plan may be saving.
  private static func checkPlans(
    of store: StoreLocation, _ vocabulary: DefinitionVocabulary, timeoutSeconds: Double, consequence: String,
    action: String
  ) throws {
    guard store.isServer else { return }
    let ledger = try LedgerConnection.reading(store, isWritten: true, timeoutSeconds: timeoutSeconds)
    defer { ledger.close() }
    try PlanTables(vocabulary).checkAllClosed(ledger, consequence: consequence, action: action)
  }

  /// Copies all without the checks; a new file that does not become a copy is removed.
  static func copy(
    _ source: StoreLocation, to target: StoreLocation, model: NSManagedObjectModel, _ tables: LedgerTables,
    timeoutSeconds: Double
  ) throws -> Int {
    let original = try open(source, model, isReadOnly: true, timeoutSeconds: timeoutSeconds)
    defer { close(original) }
    let newFile = try target.exists ? nil : target.path.map { try NewFile($0, near: source.path) }
    var isOpened = false
    do {
      let copy = try open(target, model, isReadOnly: false, timeoutSeconds: timeoutSeconds)
      isOpened = true
      defer { close(copy) }
      guard let one = original.rowStores.first as? any SQLRowStore & TableStore, let other = copy.rowStores.first
      else { return 0 }
      let count = try ObjectCopy(from: one, to: other, model: model).run { CopiedRecords(tables, of: one, in: $0) }
      try copy.checkpoint()
      return count
    } catch {
      newFile?.remove(isOpened: isOpened)
      throw error
    }
  }

  private struct NewFile {
    private let path: String
    private let support: URL
    private let hasSupport: Bool

    /// Makes the file, which SQLite takes for a new store: what SQLite makes itself gets the rights of the umask, however
    /// private the store that is copied.
    init(_ path: String, near source: String?) throws(RunFailure) {
      self.path = path
      support = LargeValues.supportFolder(of: URL(fileURLWithPath: path))
      hasSupport = mayExist(support.path)
      let descriptor = uninterrupted {
        Foundation.open(
          path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(FileRights.ofFile(path, near: source)))
      }
      guard descriptor >= 0 else { throw RunFailure(path, "can't be made", errno: errno) }
      Foundation.close(descriptor)
    }

    /// - Parameter isOpened: Whether it was a store: the log and the folder with its name belong to others before.
    func remove(isOpened: Bool) {
      for ending in isOpened ? ["", "-wal", "-shm"] : [""] {
        try? FileManager.default.removeItem(atPath: path + ending)
      }
      if isOpened, !hasSupport { try? FileManager.default.removeItem(at: support) }
    }
  }

  private static func open(
    _ place: StoreLocation, _ model: NSManagedObjectModel, isReadOnly: Bool, timeoutSeconds: Double
  ) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: place.type, configurationName: nil, at: try place.url(),
      options: [
        NSReadOnlyPersistentStoreOption: NSNumber(value: isReadOnly),
        NSPersistentStoreTimeoutOption: NSNumber(value: timeoutSeconds),
      ])
    return coordinator
  }

  private static func close(_ coordinator: NSPersistentStoreCoordinator) {
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
  }
}
