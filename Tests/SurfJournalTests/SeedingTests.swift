import Foundation
import OpenCoreData
import SurfJournal
import TestSupport
import Testing

/// On first launch the store begins as a copy of the seed (a seeded store, in the tutorials that this project starts
/// from): its -shm and -wal first, its .sqlite last, once.
/// - The rows of a store may all be in its -wal (sqlite.org/wal.html, "The WAL File").
/// - A store that is there is never written over; a half copy is never taken for a store, and made again.
/// - Logs of a former store are not mixed with the seed (sqlite.org/howtocorrupt.html, section 1.4).
@Suite struct SeedingTests {
  private let folder: TemporaryFolder
  private let directory: URL
  private let store: String

  init() throws {
    folder = try TemporaryFolder()
    directory = URL(fileURLWithPath: folder.path("app"), isDirectory: true)
    store = directory.appendingPathComponent("SurfJournalModel.sqlite").path
  }

  /// The places of the entries that a launch finds.
  private func launch(_ seed: URL?) throws -> [String: Int] {
    let stack = try CoreDataStack(directory: directory, seed: seed)
    defer { stack.close() }
    return try Seeds.places(stack)
  }

  private func failure(_ seed: URL?) -> CoreDataStackError? {
    #expect(throws: CoreDataStackError.self) { _ = try CoreDataStack(directory: directory, seed: seed) }
  }

  private func contents(_ folder: URL) throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: folder.appendingPathComponent($0))) })
  }

  @Test func `The first launch takes the seed with all that is in its WAL, and leaves nothing else`() throws {
    let seed = try Seeds.make("seed", entries: 50, in: folder)
    let before = try contents(seed.deletingLastPathComponent())
    #expect(try launch(seed) == ["Rincon": 50])
    #expect(try contents(seed.deletingLastPathComponent()) == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["SurfJournalModel.sqlite"])
  }

  @Test func `Without its log the same seed is empty, so the test above can fail`() throws {
    let seed = try Seeds.make("seed", entries: 50, in: folder)
    for suffix in ["-wal", "-shm"] { try FileManager.default.removeItem(atPath: seed.path + suffix) }
    #expect(try launch(seed).isEmpty)
  }

  @Test(.enabled(if: Seeds.isRealPresent, "needs ../shared/stores (or SURFJOURNAL_SHARED), which a plain clone lacks"))
  func `The seed that Apple's framework wrote has 5,000 entries with its log, and none without`() throws {
    let stack = try CoreDataStack(directory: directory, seed: Seeds.real)
    #expect(try Seeds.places(stack).values.reduce(0, +) == 5000)
    // Its files can't be written to; the copy can.
    let context = stack.mainContext
    context.performAndWait { _ = JournalEntry(context: context) }
    try stack.saveContext()
    #expect(try Seeds.places(stack).values.reduce(0, +) == 5001)
    stack.close()
    try FileManager.default.removeItem(at: directory)
    let bare = URL(fileURLWithPath: folder.path("bare.sqlite"))
    try FileManager.default.copyItem(at: Seeds.real, to: bare)
    #expect(try launch(bare).isEmpty)
  }

  @Test func `A later launch takes what is there, whatever the seed has become`() throws {
    let seed = try Seeds.make("seed", entries: 3, in: folder)
    #expect(try launch(seed) == ["Rincon": 3])
    let other = try Seeds.make("other", entries: 7, place: "Malibu", in: folder)
    #expect(try launch(other) == ["Rincon": 3])
    #expect(try launch(URL(fileURLWithPath: folder.path("none.sqlite"))) == ["Rincon": 3])
    #expect(try launch(nil) == ["Rincon": 3])
  }

  @Test func `An empty file of a store's name is left alone as well`() throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: store))
    #expect(try launch(try Seeds.make("seed", entries: 3, in: folder)).isEmpty)
  }

  @Test func `Without a seed the journal begins empty`() throws {
    #expect(try launch(nil).isEmpty)
    #expect(CoreDataStack.bundledSeed == nil)
  }

  @Test func `A missing -shm is made by SQLite`() throws {
    let seed = try Seeds.make("seed", entries: 50, in: folder)
    try FileManager.default.removeItem(atPath: seed.path + "-shm")
    #expect(try launch(seed) == ["Rincon": 50])
  }

  /// What a launch may leave that is killed while it copies, and what a removed store leaves.
  enum Rest: String, CaseIterable {
    case halfStage, wholeStage, sharedMemoryMoved, logMoved, formerLog, formerJournal
  }

  @Test(arguments: Rest.allCases)
  func `What is left without its .sqlite is not mixed in`(_ rest: Rest) throws {
    let files = FileManager.default
    let seed = try Seeds.make("seed", entries: 50, in: folder)
    let former = try Seeds.make("former", entries: 9, place: "Malibu", in: folder)
    let stage = "\(store).seeding"
    try files.createDirectory(atPath: stage, withIntermediateDirectories: true)
    switch rest {
    case .halfStage: try Data(count: 4096).write(to: URL(fileURLWithPath: "\(stage)/SurfJournalModel.sqlite-wal"))
    case .wholeStage:
      for suffix in Seeds.suffixes {
        try files.copyItem(atPath: former.path + suffix, toPath: "\(stage)/SurfJournalModel.sqlite\(suffix)")
      }
    case .sharedMemoryMoved: try files.copyItem(atPath: seed.path + "-shm", toPath: store + "-shm")
    case .logMoved:
      for suffix in ["-shm", "-wal"] { try files.copyItem(atPath: seed.path + suffix, toPath: store + suffix) }
    case .formerLog:
      try files.removeItem(atPath: stage)
      for suffix in ["-shm", "-wal"] { try files.copyItem(atPath: former.path + suffix, toPath: store + suffix) }
      // Nothing of the seed's own would take its place.
      for suffix in ["-shm", "-wal"] { try files.removeItem(atPath: seed.path + suffix) }
    case .formerJournal: try Data("a journal".utf8).write(to: URL(fileURLWithPath: store + "-journal"))
    }
    #expect(try launch(seed) == (rest == .formerLog ? [:] : ["Rincon": 50]))
    #expect(try files.contentsOfDirectory(atPath: directory.path) == ["SurfJournalModel.sqlite"])
  }

  @Test func `Of launches at the same time one copies, and all find the whole store`() async throws {
    let seed = try Seeds.make("seed", entries: 50, in: folder)
    let directory = directory
    let found = try await withThrowingTaskGroup(of: [String: Int].self) { group in
      for _ in 0..<8 {
        group.addTask {
          let stack = try CoreDataStack(directory: directory, seed: seed)
          return try Seeds.places(stack)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(found == Array(repeating: ["Rincon": 50], count: 8))
  }

  @Test func `Of processes at the same time one copies, and all find the whole store`() async throws {
    let seed = try Seeds.make("seed", entries: 500, in: folder)
    let (path, target) = (seed.path, directory.path)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          await #expect(processExitsWith: .success) { [path = path as String, target = target as String] in
            let stack = try CoreDataStack(
              directory: URL(fileURLWithPath: target), seed: URL(fileURLWithPath: path))
            try #require(try Seeds.places(stack) == ["Rincon": 500])
          }
        }
      }
    }
    // Two that close the store at the same time may both leave its log to the next one.
    #expect(try launch(seed) == ["Rincon": 500])
    #expect(try FileManager.default.contentsOfDirectory(atPath: target) == ["SurfJournalModel.sqlite"])
  }

  @Test(arguments: [1, 3, 7, 15, 31, 60])
  func `A launch that is killed leaves a whole store or none, and the next makes it whole`(_ milliseconds: Int)
    async throws
  {
    let seed = try Seeds.make("seed", entries: 2000, in: folder)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = seed.path as String, target = directory.path as String, milliseconds = milliseconds as Int] in
      Thread.detachNewThread {
        Thread.sleep(forTimeInterval: Double(milliseconds) / 1000)
        kill(getpid(), SIGKILL)
      }
      // First launches, one after the other, until it is over.
      for number in 0... {
        let stack = try CoreDataStack(
          directory: URL(fileURLWithPath: "\(target)/\(number)"), seed: URL(fileURLWithPath: path))
        stack.close()
      }
    }
    let launches = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    for launch in launches {
      let stack = try CoreDataStack(directory: directory.appendingPathComponent(launch), seed: seed)
      #expect(try Seeds.places(stack) == ["Rincon": 2000], "\(launch) of \(launches.count)")
      stack.close()
      let names = try FileManager.default.contentsOfDirectory(atPath: "\(directory.path)/\(launch)")
      #expect(names == ["SurfJournalModel.sqlite"])
    }
  }

  @Test func `What a launch left that was killed at its very end is gone after the next`() throws {
    let seed = try Seeds.make("seed", entries: 3, in: folder)
    try CoreDataStack(directory: directory, seed: seed).close()
    let stage = directory.appendingPathComponent("SurfJournalModel.sqlite.seeding")
    try FileManager.default.createDirectory(at: stage, withIntermediateDirectories: false)
    let stack = try CoreDataStack(directory: directory, seed: seed)
    #expect(try Seeds.places(stack) == ["Rincon": 3])
    stack.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["SurfJournalModel.sqlite"])
  }

  // MARK: What went wrong

  /// After a failure there is no store, so that the next launch tries again.
  private func expectNothing() {
    for suffix in Seeds.suffixes + [".seeding"] { #expect(!FileManager.default.fileExists(atPath: store + suffix)) }
  }

  @Test func `A seed that is not there is named`() throws {
    let error = failure(URL(fileURLWithPath: folder.path("none.sqlite")))
    #expect(error?.code == .seedMissing)
    #expect(error?.message.contains("none.sqlite does not exist; add it to the app's resources") == true)
    #expect(try folder.names.isEmpty)
  }

  @Test func `A seed whose log was left out is refused`() throws {
    let seed = try Seeds.make("seed", entries: 50, in: folder)
    try FileManager.default.removeItem(atPath: seed.path + "-wal")
    let error = failure(seed)
    #expect(error?.code == .seedWALMissing)
    #expect(error?.message.contains("SurfJournalModel.sqlite-wal to the app's resources") == true)
    expectNothing()
  }

  @Test func `A seed that is not a store is refused before it is in the way`() throws {
    try folder.write("date,rating\n", to: "seed.sqlite")
    #expect(failure(URL(fileURLWithPath: folder.path("seed.sqlite")))?.code == .seedUnusable)
    try Data("SQLite format 3\0".utf8 + [UInt8](repeating: 7, count: 4080))
      .write(to: URL(fileURLWithPath: folder.path("damaged.sqlite")))
    #expect(failure(URL(fileURLWithPath: folder.path("damaged.sqlite")))?.code == .seedUnusable)
    expectNothing()
    #expect(try launch(try Seeds.make("seed", entries: 3, in: folder)) == ["Rincon": 3])
  }

  @Test func `A seed of another model is refused before it is in the way`() throws {
    let entity = NSEntityDescription()
    entity.name = "Board"
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let seed = URL(fileURLWithPath: folder.path("board.sqlite"))
    let made = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: seed)
    try coordinator.remove(made)
    let error = failure(seed)
    #expect(error?.code == .seedUnusable)
    #expect((error?.underlying as NSError?)?.code == NSPersistentStoreIncompatibleVersionHashError)
    expectNothing()
  }

  @Test func `A folder that can't be made is named`() throws {
    try folder.write("", to: "app")
    let error = failure(try Seeds.make("seed", entries: 3, in: folder))
    #expect(error?.code == .folderNotWritable)
    #expect(error?.message.hasPrefix(folder.path("app")) == true)
  }

  @Test func `A copy that there is no room for is taken back`() async throws {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let seed = try Seeds.make("seed", entries: 5000, in: folder)
      // Bytes a file may have: the -shm has room, the -wal has not.
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 32 << 10, rlim_max: 1 << 30)
      try #require(setrlimit(__rlimit_resource_t(1), &limit) == 0)
      let directory = URL(fileURLWithPath: folder.path("app"))
      let error = #expect(throws: CoreDataStackError.self) { _ = try CoreDataStack(directory: directory, seed: seed) }
      #expect(error?.code == .diskFull, "\(error?.message ?? "")")
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
      limit.rlim_cur = limit.rlim_max
      try #require(setrlimit(__rlimit_resource_t(1), &limit) == 0)
      let stack = try CoreDataStack(directory: directory, seed: seed)
      #expect(try Seeds.places(stack) == ["Rincon": 5000])
    }
  }
}
