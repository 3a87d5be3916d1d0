import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

/// The law: a predicate over to-many relationships has the answer that plain Swift gives for the same graph, in SQL, in
/// memory, and while changes are pending.
@Suite("Element predicate agreement: plain Swift, memory and SQLite give the same answers", .seeded)
struct ElementAgreementTests {
  @Test("for random predicates over random graphs and changes", arguments: Randomness.seeds(3, long: 60))
  func random(seed: UInt64) throws {
    let wrong = try disagreements(seed: seed, isWrong: false)
    #expect(wrong.isEmpty, "seed \(seed): \(wrong.prefix(3).joined(separator: "\n"))")
  }

  @Test("a wrong meaning of ALL over nothing is noticed")
  func canary() throws {
    #expect(try !disagreements(seed: 7, isWrong: true).isEmpty)
  }

  private func disagreements(seed: UInt64, isWrong: Bool) throws -> [String] {
    var forms = ElementForms(seed: seed)
    forms.isWrong = isWrong
    let graph = try ElementGraph(&forms)
    var found: [String] = []
    var matches = 0
    for isChanged in [false, true] {
      if isChanged { graph.change(&forms) }
      for _ in 0..<150 {
        let kind = forms.one(of: ["Club", "Person", "Tag"])
        let form = forms.form(kind)
        let expected = graph.plain.filter { $0.kind == kind && form.holds($0) }.map(\.number).sorted()
        matches += expected.count
        let predicate = try NSPredicate.parse(format: form.text)
        for (way, numbers) in try graph.answers(kind, predicate) where numbers != expected {
          found.append("\(form.text) \(way)\(isChanged ? " with changes" : ""): \(numbers), expected \(expected)")
        }
      }
    }
    #expect(matches > 500, "too few objects match for the test to mean something")
    return found
  }
}

/// A random graph in a store and as plain values.
private final class ElementGraph {
  static let xml = """
    <model>
      <entity name="Thing" isAbstract="YES">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
      </entity>
      <entity name="Club">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="rank" optional="YES" attributeType="Integer 16"/>
        <attribute name="score" optional="YES" attributeType="Double"/>
        <relationship name="members" optional="YES" toMany="YES" destinationEntity="Person" inverseName="club" inverseEntity="Person"/>
        <relationship name="leader" optional="YES" maxCount="1" destinationEntity="Person" inverseName="leads" inverseEntity="Person"/>
      </entity>
      <entity name="Person" parentEntity="Thing">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="age" optional="YES" attributeType="Integer 32"/>
        <attribute name="height" optional="YES" attributeType="Decimal"/>
        <relationship name="club" optional="YES" maxCount="1" destinationEntity="Club" inverseName="members" inverseEntity="Club"/>
        <relationship name="leads" optional="YES" toMany="YES" destinationEntity="Club" inverseName="leader" inverseEntity="Club"/>
        <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="people" inverseEntity="Tag"/>
        <relationship name="friends" optional="YES" toMany="YES" destinationEntity="Person" inverseName="friends" inverseEntity="Person"/>
      </entity>
      <entity name="Coach" parentEntity="Person"/>
      <entity name="Tag" parentEntity="Thing">
        <attribute name="word" optional="YES" attributeType="String"/>
        <attribute name="weight" optional="YES" attributeType="Float"/>
        <relationship name="people" optional="YES" toMany="YES" ordered="YES" destinationEntity="Person" inverseName="tags" inverseEntity="Person"/>
      </entity>
    </model>
    """

  let folder: TemporaryFolder
  let context: NSManagedObjectContext
  let plain: [PlainObject]
  private var objects: [NSManagedObject] = []

  init(_ forms: inout ElementForms) throws {
    folder = try TemporaryFolder()
    let model = try NSManagedObjectModel.load(xml: Data(Self.xml.utf8))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("Elements.sqlite"))
    context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    var plain: [PlainObject] = []
    for (kind, count) in [("Club", 8), ("Person", 16), ("Tag", 6)] {
      for _ in 0..<count {
        let values = (ElementForms.attributes[kind] ?? [:]).mapValues { forms.value(isText: $0) }
        plain.append(PlainObject(kind: kind, number: plain.count, values: values))
      }
    }
    self.plain = plain
    try context.performAndWait {
      for object in plain {
        let entity = object.kind == "Person" && forms.chance(30) ? "Coach" : object.kind
        let made = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        made.setValue(object.number, forKey: "number")
        objects.append(made)
        for key in object.values.keys { set(key, of: object, made) }
      }
      for object in plain { link(object, &forms) }
      try context.save()
      context.reset()
      objects = []
      for kind in ["Club", "Thing"] {
        objects += try context.fetch(NSFetchRequest<NSManagedObject>(entityName: kind))
      }
      objects.sort { Self.number($0) < Self.number($1) }
    }
  }

  private static func number(_ object: NSManagedObject) -> Int { object.value(forKey: "number") as? Int ?? -1 }

  /// NaN counts as nil, and is possible in memory.
  private func set(_ key: String, of object: PlainObject, _ made: NSManagedObject, asNaN: Bool = false) {
    switch object.value(key) {
    case .none: made.setValue(asNaN && key == "score" ? Double.nan : nil, forKey: key)
    case .text(let text): made.setValue(text, forKey: key)
    case .number(let number):
      switch key {
      case "height": made.setValue(NSDecimalNumber(value: number), forKey: key)
      case "rank", "age": made.setValue(Int(number), forKey: key)
      case "weight": made.setValue(Float(number), forKey: key)
      default: made.setValue(number, forKey: key)
      }
    }
  }

  /// Links an object anew, at both ends.
  private func link(_ object: PlainObject, _ forms: inout ElementForms) {
    let people = plain.filter { $0.kind == "Person" }
    switch object.kind {
    case "Club":
      let leader = forms.chance(60) ? forms.one(of: people) : nil
      connect(object, "leader", to: leader, inverse: "leads")
    case "Person":
      let clubs = plain.filter { $0.kind == "Club" }.prefix(6)
      connect(object, "club", to: forms.chance(70) ? forms.one(of: Array(clubs)) : nil, inverse: "members")
      connect(object, "friends", toAll: people.filter { _ in forms.chance(12) }, inverse: "friends")
    default:
      connect(object, "people", toAll: people.filter { _ in forms.chance(25) }, inverse: "tags")
    }
  }

  private func connect(_ object: PlainObject, _ name: String, to other: PlainObject?, inverse: String) {
    object.one[name]?.many[inverse]?.removeAll { $0 === object }
    object.one[name] = other
    other?.many[inverse, default: []].append(object)
    objects[object.number].setValue(other.map { objects[$0.number] }, forKey: name)
  }

  private func connect(_ object: PlainObject, _ name: String, toAll others: [PlainObject], inverse: String) {
    for other in object.many[name] ?? [] { other.many[inverse]?.removeAll { $0 === object } }
    object.many[name] = others
    for other in others where !(name == inverse && other === object) {
      if other.many[inverse]?.contains(where: { $0 === object }) != true {
        other.many[inverse, default: []].append(object)
      }
    }
    let made = others.map { objects[$0.number] }
    objects[object.number].setValue(
      name == "people" ? NSOrderedSet(array: made) : NSSet(array: made), forKey: name)
  }

  /// Changes values and links without saving.
  func change(_ forms: inout ElementForms) {
    context.performAndWait {
      for object in plain where forms.chance(25) {
        let key = forms.one(of: object.values.keys.sorted())
        object.values[key] = forms.value(isText: ElementForms.attributes[object.kind]?[key] ?? false)
        set(key, of: object, objects[object.number], asNaN: true)
        if forms.chance(40) { link(object, &forms) }
      }
    }
  }

  /// What each way of asking finds, as numbers of objects.
  func answers(_ kind: String, _ predicate: NSPredicate) throws -> [(way: String, numbers: [Int])] {
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: kind)
      request.predicate = predicate
      let query = try request.query(model: context.model)
      let candidates = objects.filter { $0.entity.isKindOf(entity: query.entity) }
      let count = try context.count(for: request)
      let fetched = try context.fetch(request).map(Self.number).sorted()
      return [
        ("fetched", fetched), ("counted", count == fetched.count ? fetched : [count]),
        ("evaluated", candidates.filter { predicate.evaluate(with: $0) }.map(Self.number)),
        ("matched", try candidates.filter { try query.matches($0) }.map(Self.number)),
      ]
    }
  }
}
