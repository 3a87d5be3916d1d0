import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import Testing

// Rules (Apple documentation: NSManagedObject, "Accessing Data"; Key-Value Coding Programming Guide): keyed access checks
// types and keys; a class may take over keys that the entity does not have, and what nil means for a scalar; key paths go
// through objects, dictionaries and arrays; NSNull stands for nil in dictionaries of values.

/// A class with a key of its own in addition to the attributes, and a rating that falls back to three.
final class KeyedSession: NSManagedObject {
  private var notes: [String: Any] = [:]
  override class var lifecycleHooks: LifecycleHooks { [] }
  override func value(forUndefinedKey key: String) -> Any? { notes[key] }
  override func setValue(_ value: Any?, forUndefinedKey key: String) { notes[key] = value }
  override func setNilValueForKey(_ key: String) { setValue(3, forKey: key) }
}

@Suite("Keyed access checks keys and types, and follows paths")
struct KeyedAccessTests {
  private static func object(_ type: NSManagedObject.Type = NSManagedObject.self) -> NSManagedObject {
    let model = Sessions.model { entity in
      entity.attributesByName["rating"]?.usesScalarValueType = true
      entity.properties += [Sessions.attribute("forecast", .transformableAttributeType)]
    }
    return type.init(entity: model.entities[0], insertInto: nil)
  }

  @Test("Values go in and out by key, many at once with NSNull for nil")
  func dictionaries() {
    let object = Self.object()
    object.setValuesForKeys(["place": "Hossegor", "rating": 4, "date": NSNull()])
    let values = object.dictionaryWithValues(forKeys: ["place", "rating", "date"])
    #expect(values["place"] as? String == "Hossegor" && values["rating"] as? Int == 4 && values["date"] is NSNull)
  }

  @Test("A key path goes through objects, dictionaries and arrays, and ends at nil")
  func keyPaths() {
    let object = Self.object()
    #expect(object.value(forKeyPath: "forecast.wind.speed") == nil)
    object.setValue(["wind": ["speed": 12], "swells": [["height": 1], ["height": 2], [:]]], forKey: "forecast")
    #expect(object.value(forKeyPath: "forecast.wind.speed") as? Int == 12)
    #expect(object.value(forKeyPath: "self.forecast.swells.height") as? [Int] == [1, 2])
    object.setValue("Peniche", forKeyPath: "self.place")
    #expect(object.value(forKeyPath: "place") as? String == "Peniche")
    let table = NSMutableDictionary()
    object.setValue(table, forKey: "forecast")
    object.setValue(7, forKeyPath: "forecast.tide")
    #expect(table["tide"] as? Int == 7)
  }

  @Test("A key path through a to-many relationship sets a value for each of its objects")
  func settingThroughCollections() throws {
    let graph = try LinkedGraph()
    let context = graph.context()
    context.performAndWait {
      let nodes = (1...4).map { LinkedGraph.make("Node", $0, in: context) }
      let box = LinkedGraph.make("Box", 9, in: context)
      for node in nodes[1...2] { node.setValue(nodes[0], forKey: "parent") }
      nodes[0].setValue(7, forKeyPath: "children.number")
      #expect(nodes.map { $0.value(forKey: "number") as? Int } == [1, 7, 7, 4])
      box.setValue(NSOrderedSet(array: [nodes[0], nodes[3]]), forKey: "items")
      box.setValue(nil, forKeyPath: "items.children.parent")
      #expect(LinkedGraph.numbers(nodes[0], "children") == [])
      nodes[3].setValue(5, forKeyPath: "children.number")
      box.setValue(NSOrderedSet(), forKeyPath: "items.box.items")
      #expect(LinkedGraph.numbers(box, "items") == [])
    }
  }

  @Test("Collection operators compute a value of the elements")
  func collectionOperators() throws {
    let graph = try LinkedGraph()
    let context = graph.context()
    context.performAndWait {
      let nodes = (1...4).map { LinkedGraph.make("Node", $0, in: context) }
      for node in nodes[1...] { node.setValue(nodes[0], forKey: "parent") }
      nodes[2].setValue(nodes[1], forKey: "partner")
      nodes[3].setValue(nil, forKey: "number")
      func value(_ path: String) -> Any? { nodes[0].value(forKeyPath: path) }
      #expect(value("children.@count") as? Int == 3 && value("children.@sum.number") as? Int == 5)
      #expect(value("children.@avg.number") as? Double == 2.5)
      #expect(value("children.@min.number") as? Int == 2 && value("children.@max.number") as? Int == 3)
      #expect((value("children.@unionOfObjects.parent.number") as? [Any])?.count == 3)
      #expect(value("children.@distinctUnionOfObjects.parent.number") as? NSSet == NSSet(array: [1]))
      #expect(value("children.@distinctUnionOfObjects.parent") as? NSSet == NSSet(array: [nodes[0]]))
      #expect(Set(value("children.@unionOfObjects.partner.number") as? [Int] ?? []) == [2, 3])
      #expect(nodes[3].value(forKeyPath: "children.@sum.number") as? Int == 0)
      #expect(nodes[3].value(forKeyPath: "children.@max.number") == nil)
      #expect(nodes[3].value(forKeyPath: "note.nodes.@max.number") == nil)
      let object = Self.object()
      object.setValue(["heights": [3, 1, 2]], forKey: "forecast")
      #expect(object.value(forKeyPath: "forecast.heights.@max.self") as? Int == 3)
    }
  }

  @Test("What every managed object has can be read by key too")
  func ownProperties() {
    let object = Self.object()
    #expect(object.value(forKey: "objectID") as? NSManagedObjectID == object.objectID)
    #expect(object.value(forKey: "entity") as? NSEntityDescription === object.entity)
    #expect(object.value(forKey: "isFault") as? Bool == false && object.value(forKey: "hasChanges") as? Bool == false)
  }

  @Test("A class takes over unknown keys, and nil for a scalar")
  func overrides() {
    let object = Self.object(KeyedSession.self)
    object.setValue("left", forKey: "stance")
    #expect(object.value(forKey: "stance") as? String == "left" && object.value(forKey: "other") == nil)
    object.setValue(nil, forKey: "rating")
    #expect(object.value(forKey: "rating") as? Int == 3)
    object.setValue(nil, forKey: "place")
    #expect(object.value(forKey: "place") == nil)
  }

  @Test("Nil for a scalar is stored as nil, and read as zero by the property")
  func nilScalar() {
    let object = Self.object()
    object.setValue(nil, forKey: "rating")
    #expect(object.value(forKey: "rating") == nil && (object.scalarValue(forKey: "rating") as Int16) == 0)
  }

  @Test("A wrong type, an unknown key and a path into a text stop the program with the reason")
  func stops() async {
    let type = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Self.object().setValue("five", forKey: "rating")
    }
    #expect(
      type.message.contains(
        "Unacceptable type of value for attribute: property = \"rating\"; desired type = NSNumber; given type = String; "
          + "value = five."))
    let read = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Self.object().value(forKey: "wetsuit")
    }
    #expect(read.message.contains("The entity Session is not key value coding-compliant for the key \"wetsuit\""))
    let set = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Self.object().setValue(1, forKey: "wetsuit")
    }
    #expect(set.message.contains("for the key \"wetsuit\"") && set.message.contains("date, forecast, place, rating"))
    let path = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let object = Self.object()
      object.setValue("Ericeira", forKey: "place")
      _ = object.value(forKeyPath: "place.country")
    }
    #expect(path.message.contains("String is not key value coding-compliant for \"country\""))
    let word = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let object = Self.object()
      object.setValue("Ericeira", forKey: "place")
      _ = object.value(forKeyPath: "place.@sum.length")
    }
    #expect(word.message.contains("@sum"), "\(word.message)")
  }
}

extension ExitTest.Result? {
  /// What the program said before it ended.
  var message: String { String(decoding: self?.standardErrorContent ?? [], as: UTF8.self) }
}
