import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObjectModel, "Getting Fetch Request Templates"): templates are kept by name, come
// from the model file or from code, and can't be changed once the model is in use; variables are replaced by name.

@Suite("A model keeps fetch requests by name", .overBothStores)
struct FetchTemplateTests {
  private static let xml = """
    <?xml version="1.0" encoding="UTF-8"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Session" representedClassName="NSManagedObject">
        <attribute name="date" optional="YES" attributeType="Date"/>
        <attribute name="place" optional="YES" attributeType="String"/>
        <attribute name="rating" optional="YES" attributeType="Integer 16" defaultValueString="0"/>
      </entity>
      <fetchRequest name="AtLeast" entity="Session" predicateString="rating &gt;= $LEAST AND place != $PLACE"/>
      <fetchRequest name="Some" entity="Session" fetchLimit="2"/>
    </model>
    """

  private func model() throws -> NSManagedObjectModel {
    try NSManagedObjectModel.load(xml: Data(Self.xml.utf8))
  }

  private func places(_ stack: Stack, _ request: NSFetchRequest<NSManagedObject>?) throws -> [String?] {
    let context = stack.context()
    return try context.performAndWait { try context.fetch(try #require(request)).map(\.place) }
  }

  @Test("Templates of the model file, with and without variables")
  func declared() throws {
    let folder = try TemporaryFolder()
    let stack = try Stack.filled(folder, count: 6, model: try model())
    let model = stack.coordinator.managedObjectModel
    #expect(try places(stack, model.fetchRequestTemplate(forName: "Some")) == ["Spot 0", "Spot 1"])
    let found = try places(
      stack,
      model.fetchRequestFromTemplate(withName: "AtLeast", substitutionVariables: ["LEAST": 4, "PLACE": "Spot 4"]))
    #expect(found == ["Spot 3"])
    #expect(Set(model.fetchRequestTemplatesByName.keys) == ["AtLeast", "Some"])
    let none = model.fetchRequestTemplate(forName: "None")
    #expect(none == nil)
  }

  @Test("A variable without a value is an error that names it")
  func missing() throws {
    let folder = try TemporaryFolder()
    let stack = try Stack.filled(folder, count: 1, model: try model())
    let request: NSFetchRequest<NSManagedObject>? = stack.coordinator.managedObjectModel.fetchRequestFromTemplate(
      withName: "AtLeast", substitutionVariables: ["LEAST": 4])
    #expect(message { _ = try places(stack, request) }.contains("$PLACE has no value"))
  }

  @Test("A template whose predicate is invalid is there, and every fetch with it fails with the reason")
  func invalid() throws {
    let folder = try TemporaryFolder()
    let xml = Self.xml.replacingOccurrences(of: "rating &gt;= $LEAST AND place != $PLACE", with: "rating &gt;= = 4")
    let stack = try Stack.filled(folder, count: 2, model: try .load(xml: Data(xml.utf8)))
    let model = stack.coordinator.managedObjectModel
    #expect(Set(model.fetchRequestTemplatesByName.keys) == ["AtLeast", "Some"])
    let request: NSFetchRequest<NSManagedObject>? = model.fetchRequestTemplate(forName: "AtLeast")
    let filled: NSFetchRequest<NSManagedObject>? = model.fetchRequestFromTemplate(
      withName: "AtLeast", substitutionVariables: ["LEAST": 4])
    let more = request?.copy() as? NSFetchRequest<NSManagedObject>
    more?.predicate = NSCompoundPredicate(
      orPredicateWithSubpredicates: [NSPredicate(format: "rating > 0"), try #require(request?.predicate)])
    for request in [request, filled, more] {
      #expect(request?.predicate != nil)
      let text = message { _ = try places(stack, request) }
      #expect(text.contains("fetch request 'AtLeast' can't be used"), "\(text)")
    }
  }

  @Test("Templates set in code come out as copies, also of copied and merged models")
  func set() throws {
    let model = try model()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
    request.predicate = NSPredicate(format: "rating = $R")
    request.sortDescriptors = [NSSortDescriptor(key: "place", ascending: false)]
    model.setFetchRequestTemplate(request, forName: "Rated")
    request.predicate = nil
    model.setFetchRequestTemplate(nil as NSFetchRequest<NSManagedObject>?, forName: "Some")
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    let merged = try #require(NSManagedObjectModel(byMerging: [model, copy]))
    for one in [model, copy, merged] {
      #expect(Set(one.fetchRequestTemplatesByName.keys) == ["AtLeast", "Rated"])
      let rated = one.fetchRequestFromTemplate(withName: "Rated", substitutionVariables: ["R": 3])
      #expect(rated?.predicate?.formatDescription == "rating == 3" && rated?.sortDescriptors?.count == 1)
      let again = one.fetchRequestTemplate(forName: "Rated")
      #expect(again?.predicate?.formatDescription == "rating == $R")
    }
  }

  @Test("The templates of a model in use can't be changed")
  func frozen() async {
    await #expect(processExitsWith: .failure) {
      let model = Sessions.model()
      _ = NSPersistentStoreCoordinator(managedObjectModel: model)
      model.setFetchRequestTemplate(NSFetchRequest<NSManagedObject>(entityName: "Session"), forName: "Any")
    }
  }
}
