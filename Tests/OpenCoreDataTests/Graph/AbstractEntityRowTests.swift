import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rule (Apple documentation: NSEntityDescription, isAbstract; docs/coredata-format.md, "Tables and columns"): there are
// no objects of an abstract entity, so a row with its number in Z_ENT is damage. Whatever reads it throws an error; no
// content of a file ends the program.

@Suite("A row with the number of an abstract entity", .sqliteOnly("The file is damaged by another program"))
struct AbstractEntityRowTests {
  private let stack: Stack
  private let folder: TemporaryFolder

  /// A session has a board, of the abstract entity Board: the second board's row is said to be one.
  init() throws {
    folder = try TemporaryFolder()
    let (board, longboard) = (NSEntityDescription(), NSEntityDescription())
    (board.name, longboard.name) = ("Board", "Longboard")
    board.isAbstract = true
    let (toBoard, toSessions) = (NSRelationshipDescription(), NSRelationshipDescription())
    toBoard.name = "board"
    (toBoard.destinationEntity, toBoard.maxCount, toBoard.inverseRelationship) = (board, 1, toSessions)
    toSessions.name = "sessions"
    toSessions.isOptional = true
    board.properties = [Sessions.attribute("name", .stringAttributeType), toSessions]
    board.subentities = [longboard]
    let model = Sessions.model { session in
      toSessions.destinationEntity = session
      toSessions.inverseRelationship = toBoard
      session.properties.append(toBoard)
    }
    model.entities += [board, longboard]
    let first = try Stack(folder, model: model)
    let context = first.context()
    try context.performAndWait {
      for name in ["nose rider", "glider"] {
        let object = NSManagedObject.make(longboard, in: context)
        object.setValue(name, forKey: "name")
        let session = NSManagedObject.make(first.entity, in: context)
        session.setValue(name, forKey: "place")
        session.setValue(object, forKey: "board")
        try context.save()
      }
    }
    try first.coordinator.remove(#require(first.coordinator.persistentStores.first))
    let damage = "UPDATE ZBOARD SET Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Board') WHERE Z_PK = 2"
    _ = try Programs.sqlite("store.sqlite", damage, in: folder)
    stack = try Stack(folder, model: model)
  }

  enum Reading: String, CaseIterable {
    case fetch, ids, dictionaries, walk, objectWalk, relationship, batchDeletion
  }

  @Test("Whatever reads the row throws an error that says so", arguments: Reading.allCases)
  func thrown(reading: Reading) throws {
    let context = stack.context()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Board")
    let error = #expect(throws: NSError.self) {
      try context.performAndWait {
        switch reading {
        case .fetch: _ = try context.fetch(request)
        case .ids:
          let request = NSFetchRequest<NSManagedObjectID>(entityName: "Board")
          request.resultType = .managedObjectIDResultType
          _ = try context.fetch(request)
        case .dictionaries:
          let request = NSFetchRequest<NSDictionary>(entityName: "Board")
          request.resultType = .dictionaryResultType
          let id = NSExpressionDescription()
          (id.name, id.expression, id.expressionResultType) = (
            "id", .expressionForEvaluatedObject(), .objectIDAttributeType
          )
          request.propertiesToFetch = [id]
          _ = try context.fetch(request)
        case .walk: try context.walk(request) { _, _ in true }
        case .objectWalk: try context.walkObjects(request) { _ in true }
        case .relationship:
          for session in try context.fetch(stack.request()) {
            try context.throwingReadFailures { _ = session.value(forKey: "board") }
          }
        case .batchDeletion:
          let deletion = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Board"))
          deletion.resultType = .resultTypeObjectIDs
          _ = try context.execute(deletion)
        }
      }
    }
    #expect(error?.code == NSPersistentStoreOperationError)
    #expect(error?.localizedDescription.contains("Row 2 of ") == true, "\(error?.localizedDescription ?? "")")
    #expect(error?.localizedDescription.contains("is abstract") == true)
  }

  @Test("Rows of other entities are read")
  func others() throws {
    let context = stack.context()
    try context.performAndWait {
      let longboards = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Longboard"))
      #expect(longboards.map { $0.value(forKey: "name") as? String } == ["nose rider"])
      #expect(try context.fetch(stack.request()).count == 2)
    }
  }

  @Test("A URI with the name of an abstract entity stands for no object")
  func uri() throws {
    let context = stack.context()
    let text = try context.performAndWait {
      try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Longboard")).first).objectID
        .uriRepresentation().absoluteString
    }
    func id(_ text: String) throws -> NSManagedObjectID? {
      stack.coordinator.managedObjectID(forURIRepresentation: try #require(URL(string: text)))
    }
    #expect(try id(text) != nil)
    #expect(try id(text.replacing("/Longboard/", with: "/Board/")) == nil)
  }
}
