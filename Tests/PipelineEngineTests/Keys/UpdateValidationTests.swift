import Foundation
import SystemSupport
import OpenCoreData
import PipelineEngine
import TestSupport
import Testing

/// With a policy that updates entries a record may become part of another one's entry, so each is checked before the
/// chunk is planned. The check must not cost an insertion.
@Suite("Records are checked before they are compared, and inserted once")
struct UpdateValidationTests {
  private let folder: TemporaryFolder
  private let store: String
  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store.sqlite")
  }

  static let policies: [DuplicatePolicy] = [.reject, .skip, .update(columns: nil), .keepNewest(by: "rating")]

  private func definition(_ policy: DuplicatePolicy) -> PipelineDefinition {
    .plain {
      $0.key = ["date", "location"]
      $0.duplicates = policy
      $0.chunkRows = 10
    }
  }

  /// The events of the import context over `store`, each with the number of IDs by key.
  private final class Events: Sendable {
    private let seen = Locked<[[String: Int]]>([])
    var all: [[String: Int]] { seen.withLock { $0 } }

    func observe(_ store: String) -> any NSObjectProtocol {
      NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: nil, queue: nil
      ) { note in
        guard let context = note.object as? NSManagedObjectContext, context.name == "import" else { return }
        var root = context
        while let parent = root.parent { root = parent }
        guard root.persistentStoreCoordinator?.persistentStores.first?.url?.path == store else { return }
        let event = (note.userInfo ?? [:]).compactMapValues { ($0 as? Set<NSManagedObject>)?.count }
        let named = Dictionary(uniqueKeysWithValues: event.map { ("\($0.key)", $0.value) })
        self.seen.withLock { $0.append(named) }
      }
    }
  }

  @Test(arguments: policies)
  func `A chunk of new records changes the import context once`(_ policy: DuplicatePolicy) async throws {
    let input = try folder.write(log(30), to: "log.csv")
    let events = Events()
    let observer = events.observe(store)
    defer { NotificationCenter.default.removeObserver(observer) }
    let summary = try await run(definition(policy), .import, inputs: [input], store: store) {
      $0.notificationContents = .objects
    }
    #expect(summary.counts == RunCounts(read: 30, inserted: 30))
    #expect(events.all == Array(repeating: [NSInsertedObjectsKey: 10], count: 3))
  }

  @Test(arguments: policies)
  func `A record that the model refuses is refused in the same words`(_ policy: DuplicatePolicy) async throws {
    let text = "date,location,rating\n2020-01-01,A,1\n2020-01-02,B,9\n2020-01-03,,2\n2020-01-04,,9\n2020-01-05,C,3\n"
    let input = try folder.write(text, to: "log.csv")
    func model() -> NSManagedObjectModel {
      let model = RunModel.make(ratingMax: 5)
      model.entities.forEach { $0.attributesByName["location"]?.isOptional = false }
      return model
    }
    let summary = try await run(definition(policy), .import, inputs: [input], store: store, model: model())
    #expect(summary.counts == RunCounts(read: 5, inserted: 2, rejected: 3))
    #expect(summary.issues.listed.map(\.code) == [.modelError, .modelError, .modelError])
    #expect(try sqlite(store, "SELECT ZLOCATION FROM ZJOURNALENTRY ORDER BY 1") == "A\nC")
    // Without a key the entries are refused by the save itself.
    let plain = PipelineDefinition.plain()
    let saved = try await run(plain, .import, inputs: [input], store: folder.path("plain.sqlite"), model: model())
    #expect(summary.issues == saved.issues)
  }

  @Test func `A class that checks its objects is asked as before`() async throws {
    let text = "date,location,rating\n2020-01-01,A,1\n2020-01-02,Secret,2\n2020-01-03,Far,5\n2020-01-04,Far,4\n"
    let input = try folder.write(text, to: "log.csv")
    let model = RunModel.make()
    model.entities.forEach { $0.managedObjectClassName = NSStringFromClass(StrictSession.self) }
    let summary = try await run(definition(.update(columns: nil)), .import, inputs: [input], store: store, model: model)
    #expect(summary.counts == RunCounts(read: 4, inserted: 2, rejected: 2))
    #expect(
      summary.issues.listed.map(\.message) == ["secret spots stay secret", "nobody goes that far for a five"])
  }
}
