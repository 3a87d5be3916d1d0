import Foundation
import OpenCoreData
import TestSupport
import Testing

/// Rules (Apple documentation: `newValue(forRelationship:forObjectWith:with:)`, NSAtomicStoreCacheNode): what objects of
/// a client's store lead to, and several stores in one coordinator.
@Suite("Relationships of a client's store, and stores side by side") @MainActor struct StoreRelationshipTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    StoreKind.register()
  }

  /// Two sessions that lead to one spot, written by another program, and one that leads nowhere.
  private func linked(_ kind: StoreKind) throws -> SessionStack {
    let stack = try SessionStack(kind.type, at: kind.url(in: folder))
    let spot = NSEntityDescription.insertNewObject(forEntityName: "Spot", into: stack.context)
    spot.setValue("Rincon", forKey: "name")
    for (rating, title) in ["dawn", "noon", "alone"].enumerated() { stack.insert(title, rating: rating) }
    try stack.context.save()
    try stack.coordinator.remove(stack.store)
    let reference = spot.objectID.uriRepresentation().lastPathComponent.dropFirst()
    switch kind {
    case .csv:
      let lines = try folder.text("sessions.csv").split(separator: "\n").map { line in
        line.contains("\"dawn\"") || line.contains("\"noon\"") ? line.dropLast(0) + "\"\(reference)\"" : line
      }
      try folder.write(lines.joined(separator: "\n") + "\n", to: "sessions.csv")
    case .folder:
      let path = kind.url(in: folder).appendingPathComponent("Session")
      for name in try FileManager.default.contentsOfDirectory(atPath: path.path) {
        let file = path.appendingPathComponent(name)
        let text = try String(contentsOf: file, encoding: .utf8)
        if text.contains("alone") { continue }
        let linked = text.replacingOccurrences(of: "\"title\"", with: "\"spot\": \"\(reference)\", \"title\"")
        try linked.write(to: file, atomically: true, encoding: .utf8)
      }
    }
    return try SessionStack(kind.type, at: kind.url(in: folder))
  }

  @Test("To-one and to-many relationships are read", arguments: StoreKind.allCases) func reading(_ kind: StoreKind)
    throws
  {
    let stack = try linked(kind)
    let sessions = try stack.context.fetch(SessionStack.request(sortedBy: "rating", SurfSession.self))
    #expect(sessions.map { $0.spot?.value(forKey: "name") as? String } == ["Rincon", "Rincon", nil])
    let spot = try #require(sessions[0].spot)
    #expect(spot === sessions[1].spot)
    let all = try #require(spot.value(forKey: "sessions") as? NSSet)
    #expect(Set(all.allObjects.compactMap { ($0 as? SurfSession)?.title }) == ["dawn", "noon"])
  }

  @Test("Predicates, order and dictionaries over a relationship", arguments: StoreKind.allCases)
  func paths(_ kind: StoreKind) throws {
    let stack = try linked(kind)
    #expect(try stack.titles("spot.name == 'Rincon'") == ["dawn", "noon"])
    #expect(try stack.titles("spot == nil") == ["alone"])
    let request = SessionStack.request(sortedBy: "spot.name", SurfSession.self)
    request.fetchLimit = 1
    #expect(try stack.context.fetch(request).map(\.title) == ["alone"])
    let rows = SessionStack.request("rating == 0", NSDictionary.self)
    rows.resultType = .dictionaryResultType
    rows.propertiesToFetch = ["title", "spot.name"]
    let row = try stack.context.fetch(rows).first as? [String: Any]
    #expect(row?["title"] as? String == "dawn" && row?["spot.name"] as? String == "Rincon")
  }

  @Test("A change of an object keeps what it leads to", arguments: StoreKind.allCases)
  func changing(_ kind: StoreKind) throws {
    let stack = try linked(kind)
    let dawn = try #require(try stack.context.fetch(SessionStack.request("title == 'dawn'", SurfSession.self)).first)
    dawn.title = "first light"
    try stack.context.save()
    try stack.coordinator.remove(stack.store)
    let again = try SessionStack(kind.type, at: kind.url(in: folder))
    #expect(try again.titles("spot.name == 'Rincon'") == ["first light", "noon"])
  }

  @Test(
    "With a SQLite store: fetches are put together, objects go where they are assigned", arguments: StoreKind.allCases
  )
  func severalStores(_ kind: StoreKind) throws {
    let stack = try SessionStack(.sqlite, at: folder.file("sessions.sqlite"))
    let other = try stack.coordinator.addPersistentStore(type: kind.type, at: kind.url(in: folder))
    let (first, second) = (stack.insert("in SQLite", rating: 1), stack.insert("in the other", rating: 2))
    stack.context.assign(second, to: other)
    try stack.context.save()
    #expect(first.objectID.persistentStore === stack.store && second.objectID.persistentStore === other)
    stack.context.reset()
    #expect(try stack.titles(sortedBy: "rating") == ["in SQLite", "in the other"])
    let found = try stack.context.fetch(SessionStack.request(sortedBy: "rating", SurfSession.self))
    for session in found { session.title = (session.title ?? "") + ", changed" }
    try stack.context.save()
    #expect(try sqlite(folder.file("sessions.sqlite"), "SELECT ZTITLE FROM ZSESSION") == "in SQLite, changed")
    let request = SessionStack.request(nil, SurfSession.self)
    request.affectedStores = [other]
    #expect(try stack.context.fetch(request).map(\.title) == ["in the other, changed"])
  }

  @Test("A store that refuses its part keeps SQLite from taking its own") func severalStoresFailing() throws {
    NSPersistentStoreCoordinator.registerStoreClass(RecordingFolderStore.self, forStoreType: "ExampleRecordingFolder")
    let stack = try SessionStack(.sqlite, at: folder.file("sessions.sqlite"))
    let type = NSPersistentStore.StoreType(rawValue: "ExampleRecordingFolder")
    let other = try #require(
      try stack.coordinator.addPersistentStore(type: type, at: folder.file("refusing")) as? RecordingFolderStore)
    other.refusal = NSError(domain: "Example", code: 7)
    stack.insert("in SQLite")
    stack.context.assign(stack.insert("in the other"), to: other)
    #expect(throws: NSError.self) { try stack.context.save() }
    #expect(try sqlite(folder.file("sessions.sqlite"), "SELECT count(*) FROM ZSESSION") == "0")
    other.refusal = nil
    try stack.context.save()
    #expect(try sqlite(folder.file("sessions.sqlite"), "SELECT count(*) FROM ZSESSION") == "1")
  }
}
