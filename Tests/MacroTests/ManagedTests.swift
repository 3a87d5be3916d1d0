import Foundation
import OpenCoreData
import OpenCoreDataMacros
import TestSupport
import Testing

// Rule (article BringYourApp): hand-written classes write @Managed in place of @NSManaged.

/// How a session was.
enum Mood: Int16 {
  case calm, wild
}

final class Session: NSManagedObject {
  @Managed var place: String
  @Managed var note: String?
  @Managed var rating: Int16
  @Managed var height: Double
  @Managed var isPublic: Bool
  @Managed var mood: Mood
  @Managed var otherMood: Mood?
  @Managed var date: Date?
  @Managed var stars: NSNumber?
  @Managed var photo: Data?
  @Managed var page: URL?
  @Managed private(set) var tags: Set<Tag>
  @Managed var board: Board?
  @Managed var `default`: String?
}

final class Tag: NSManagedObject {
  @Managed var word: String
  @Managed var sessions: NSSet?
  @ManagedMethod func addToSessions(_ value: Session)
  @ManagedMethod func removeFromSessions(_ values: NSSet)
}

final class Board: NSManagedObject {
  @Managed var name: String
  @Managed var sessions: NSOrderedSet
  @ManagedMethod func addToSessions(_ value: Session)
  @ManagedMethod func addToSessions(_ values: NSOrderedSet)
  @ManagedMethod func removeFromSessions(_ value: Session)
  @ManagedMethod func removeFromSessions(at idx: Int)
  @ManagedMethod func insertIntoSessions(_ value: Session, at idx: Int)
  @ManagedMethod func insertIntoSessions(_ values: [Session], at indexes: NSIndexSet)
  @ManagedMethod func removeFromSessions(at indexes: NSIndexSet)
  @ManagedMethod func replaceSessions(at idx: Int, with value: Session)
  @ManagedMethod func replaceSessions(at indexes: NSIndexSet, with values: [Session])
}

@Suite("Properties with @Managed are those of the model")
struct ManagedTests {
  private static let xml = """
    <model>
      <entity name="Session" representedClassName="Session">
        <attribute name="place" optional="YES" attributeType="String"/>
        <attribute name="note" optional="YES" attributeType="String"/>
        <attribute name="rating" optional="YES" attributeType="Integer 16"/>
        <attribute name="height" optional="YES" attributeType="Double"/>
        <attribute name="isPublic" optional="YES" attributeType="Boolean"/>
        <attribute name="mood" optional="YES" attributeType="Integer 16"/>
        <attribute name="otherMood" optional="YES" attributeType="Integer 16"/>
        <attribute name="date" optional="YES" attributeType="Date"/>
        <attribute name="stars" optional="YES" attributeType="Integer 64"/>
        <attribute name="photo" optional="YES" attributeType="Binary"/>
        <attribute name="page" optional="YES" attributeType="URI"/>
        <attribute name="default" optional="YES" attributeType="String"/>
        <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="sessions" inverseEntity="Tag"/>
        <relationship name="board" optional="YES" maxCount="1" destinationEntity="Board" inverseName="sessions" inverseEntity="Board"/>
      </entity>
      <entity name="Tag" representedClassName="Tag">
        <attribute name="word" optional="YES" attributeType="String"/>
        <relationship name="sessions" optional="YES" toMany="YES" destinationEntity="Session" inverseName="tags" inverseEntity="Session"/>
      </entity>
      <entity name="Board" representedClassName="Board">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="sessions" optional="YES" toMany="YES" ordered="YES" destinationEntity="Session" inverseName="board" inverseEntity="Session"/>
      </entity>
    </model>
    """
  private let context: NSManagedObjectContext

  init() throws { context = try Self.context(Self.xml) }

  /// A context on a store in memory, for a model whose classes are in this module.
  static func context(_ xml: String) throws -> NSManagedObjectContext {
    let folder = try TemporaryFolder()
    let path = folder.file("Log.xcdatamodel")
    try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
    try Data(xml.utf8).write(to: path.appending(path: "contents"))
    let model = try NSManagedObjectModel.load(contentsOf: path)
    for entity in model.entities { entity.managedObjectClassName = "MacroTests.\(entity.name ?? "")" }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test("Nothing is nil in an optional, and 0, false or empty in others")
  func nothing() throws {
    context.performAndWait {
      let session = Session(context: context)
      #expect(session.place == "" && session.note == nil && session.default == nil)
      #expect(session.rating == 0 && session.height == 0 && session.isPublic == false)
      #expect(session.mood == .calm && session.otherMood == nil && session.date == nil && session.stars == nil)
      #expect(session.photo == nil && session.page == nil && session.tags.isEmpty && session.board == nil)
      #expect(Tag(context: context).sessions?.count == 0 && Board(context: context).sessions.count == 0)
    }
  }

  @Test("What is set is stored, and read by an object that is loaded again")
  func values() throws {
    let context = context
    try context.performAndWait {
      let session = Session(context: context)
      (session.place, session.note, session.rating, session.height) = ("Reef", "windy", 4, 1.5)
      (session.isPublic, session.mood, session.otherMood) = (true, .wild, .calm)
      session.date = Date(timeIntervalSinceReferenceDate: 9)
      session.stars = 7
      session.photo = Data([1, 2])
      session.page = URL(string: "https://example.org")
      session.default = "x"
      let tag = Tag(context: context)
      tag.word = "sea"
      tag.sessions = NSSet(object: session)
      let board = Board(context: context)
      board.sessions = NSOrderedSet(object: session)
      #expect(session.tags == [tag] && session.board === board)
      try context.save()
      context.refreshAllObjects()
      #expect(session.place == "Reef" && session.note == "windy" && session.rating == 4 && session.height == 1.5)
      #expect(session.isPublic && session.mood == .wild && session.otherMood == .calm && session.default == "x")
      #expect(session.date == Date(timeIntervalSinceReferenceDate: 9) && session.stars == 7)
      #expect(session.photo == Data([1, 2]) && session.page?.host() == "example.org")
      #expect(session.tags.map(\.word) == ["sea"] && board.sessions.array as? [Session] == [session])
      (session.note, session.otherMood, session.board) = (nil, nil, nil)
      try context.save()
      #expect(session.note == nil && session.otherMood == nil && board.sessions.count == 0)
    }
  }

  @Test("Methods of to-many relationships change their objects")
  func methods() throws {
    context.performAndWait {
      let sessions = (0..<4).map { _ in Session(context: context) }
      let (board, tag) = (Board(context: context), Tag(context: context))
      func order() -> [Int] { board.sessions.array.compactMap { ($0 as? Session).flatMap(sessions.firstIndex) } }
      board.addToSessions(sessions[0])
      board.addToSessions(NSOrderedSet(array: [sessions[1], sessions[2]]))
      board.insertIntoSessions(sessions[3], at: 0)
      #expect(order() == [3, 0, 1, 2])
      board.removeFromSessions(at: 1)
      board.removeFromSessions(sessions[3])
      board.replaceSessions(at: 0, with: sessions[0])
      #expect(order() == [0, 2])
      board.insertIntoSessions([sessions[1], sessions[3]], at: NSIndexSet(indexSet: [0, 2]))
      #expect(order() == [1, 0, 3, 2])
      board.replaceSessions(at: NSIndexSet(index: 3), with: [sessions[2]])
      board.removeFromSessions(at: NSIndexSet(indexSet: [0, 1]))
      #expect(order() == [3, 2])
      tag.addToSessions(sessions[1])
      tag.addToSessions(sessions[2])
      tag.removeFromSessions(NSSet(object: sessions[1]))
      #expect(tag.sessions == NSSet(object: sessions[2]))
    }
  }

  @Test("Key paths name the properties, in sort descriptors too")
  func keyPaths() throws {
    let context = context
    try context.performAndWait {
      for rating in [2, 3, 1] { Session(context: context).rating = Int16(rating) }
      try context.save()
      let request = NSFetchRequest<Session>(entityName: "Session")
      request.sortDescriptors = [NSSortDescriptor(keyPath: \Session.rating, ascending: true)]
      #expect(try context.fetch(request).map(\.rating) == [1, 2, 3])
    }
  }

  @Test("A value of another type stops the program, and the message names the property")
  func wrongType() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let test = try ManagedTests()
      test.context.performAndWait {
        let session = Session(context: test.context)
        session.date = nil
        let date: Date = session.managedValue(forKey: "date")
        _ = date
      }
    }
    #expect(result?.standardErrorContent.isEmpty == false)
  }
}
