import Foundation
import SystemSupport
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import Synchronization
import TestSupport
import Testing

/// What a store of `CascadePlayer` has, as plain dictionaries of numbers.
struct CascadeReference: Equatable {
  var shops: Set<Int> = []
  /// The shop or the outer box of each box; both nil for one that stands alone.
  var boxes: [Int: (shop: Int?, outer: Int?)] = [:]
  /// The box of each part.
  var parts: [Int: Int?] = [:]
  var tags: [Int: Set<Int>] = [:]
  /// A planted error: what is in an inner box stays.
  var keepsInnerBoxes = false

  /// Each object with what it leads to.
  var text: String {
    let shops = shops.sorted().map { "\($0)" }
    let boxes = boxes.sorted { $0.key < $1.key }.map { number, owner in
      "\(number)|\(owner.shop.map(String.init) ?? "")|\(owner.outer.map(String.init) ?? "")"
    }
    let parts = parts.sorted { $0.key < $1.key }.map { "\($0)|\($1.map(String.init) ?? "")" }
    let links = tags.sorted { $0.key < $1.key }.flatMap { part, tags in tags.sorted().map { "\(part)|\($0)" } }
    return [shops, boxes, parts, links].map { $0.joined(separator: " ") }.joined(separator: "; ")
  }

  static func == (one: Self, other: Self) -> Bool { one.text == other.text }

  mutating func delete(_ number: Int) {
    if shops.remove(number) != nil {
      for (box, owner) in boxes where owner.shop == number { delete(box) }
    } else if boxes.removeValue(forKey: number) != nil {
      for (inner, owner) in boxes where owner.outer == number {
        if keepsInnerBoxes { boxes[inner]?.outer = nil } else { delete(inner) }
      }
      for (part, box) in parts where box == number { delete(part) }
    } else {
      parts[number] = nil
      tags[number] = nil
    }
  }
}

/// What the clients of a `CascadePlayer` have seen.
final class CascadeDiary: Sendable {
  private let lines = Locked<[String]>([])
  private let packed = Locked(0)

  var seen: [String] { lines.withLock { $0 } }
  /// How many rows were deleted without objects.
  var packedCount: Int { packed.withLock { $0 } }

  func note(_ line: String) { lines.withLock { $0.append(line) } }
  func notePacked(_ count: Int) { packed.withLock { $0 += count } }
}

/// Declares nothing, so that it counts as overriding every hook: each row gets an object.
final class HookedThing: NSManagedObject {}

/// Plays random operations on shops with boxes in boxes with parts, all of which a cascade takes along.
final class CascadePlayer {
  static let xml = """
    <model>
      <entity name="Thing" isAbstract="YES">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
      </entity>
      <entity name="Shop" parentEntity="Thing">
        <relationship name="boxes" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Box" inverseName="shop" inverseEntity="Box"/>
      </entity>
      <entity name="Box">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <attribute name="label" optional="YES" attributeType="String"/>
        <relationship name="inner" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Box" inverseName="outer" inverseEntity="Box"/>
        <relationship name="outer" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Box" inverseName="inner" inverseEntity="Box"/>
        <relationship name="parts" optional="YES" toMany="YES" ordered="YES" deletionRule="Cascade" destinationEntity="Part" inverseName="box" inverseEntity="Part"/>
        <relationship name="shop" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Shop" inverseName="boxes" inverseEntity="Shop"/>
      </entity>
      <entity name="Part">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <attribute name="label" optional="YES" attributeType="String"/>
        <relationship name="box" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Box" inverseName="parts" inverseEntity="Box"/>
        <relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Tag" inverseName="parts" inverseEntity="Tag"/>
      </entity>
      <entity name="Screw" parentEntity="Part"/>
      <entity name="Tag">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="parts" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Part" inverseName="tags" inverseEntity="Part"/>
      </entity>
    </model>
    """

  let graph: LinkedGraph
  private let contexts: [NSManagedObjectContext]
  private let rival: NSManagedObjectContext
  private var random: SeededGenerator
  /// What each context has, and at the end what the store has.
  private var references: [CascadeReference]
  private var held: [NSManagedObject] = []
  private var lastNumber = 100
  private let hasRivals: Bool
  let diary = CascadeDiary()
  private var observers: [any NSObjectProtocol] = []

  /// - Parameters:
  ///   - packs: Whether rows may be deleted without objects: their class has no hooks.
  ///   - leavesValues: Whether the values of such rows stay in a SQLite store until they are asked for.
  ///   - hasRivals: Whether another coordinator changes and deletes rows.
  init(
    seed: UInt64, packs: Bool, leavesValues: Bool = false, hasRivals: Bool = false, keepsInnerBoxes: Bool = false
  ) throws {
    let named = " representedClassName=\"\(NSStringFromClass(HookedThing.self))\" name="
    graph = try LinkedGraph(
      xml: packs ? Self.xml : Self.xml.replacing("<entity name=", with: "<entity\(named)"),
      kind: hasRivals ? .sqlite : .current)
    if leavesValues {
      try graph.coordinator.withStore { ($0 as? SQLiteStore)?.deletedRowsKeptMax.store(0, ordering: .relaxed) }
    }
    random = SeededGenerator(seed: seed)
    self.hasRivals = hasRivals
    var contexts = [graph.context()]
    for _ in 0..<Int.random(in: 0..<3, using: &random) { contexts.insert(graph.context(contexts[0]), at: 0) }
    self.contexts = contexts
    rival = NSManagedObjectContext(concurrencyType: .privateQueue)
    if hasRivals { rival.persistentStoreCoordinator = try graph.newCoordinator() }
    references = Array(repeating: CascadeReference(keepsInnerBoxes: keepsInnerBoxes), count: contexts.count + 1)
    let announcesIDs = Bool.random(using: &random)
    let policies: [NSMergePolicy] = [.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .rollback]
    let policy = policies.randomElement(using: &random) ?? .error
    for (level, context) in contexts.enumerated() {
      if hasRivals { context.mergePolicy = policy }
      if announcesIDs, level > 0 { context.changeNotificationContents = .objectIDs }
      observe(context, level)
    }
  }

  deinit { for observer in observers { NotificationCenter.default.removeObserver(observer) } }

  private func observe(_ context: NSManagedObjectContext, _ level: Int) {
    let diary = diary
    for name in [Notification.Name.NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave] {
      observers.append(
        NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { note in
          diary.notePacked((note.object as? NSManagedObjectContext)?.graph.packedDeletions.count ?? 0)
          let objects = note.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject> ?? []
          let ids = note.userInfo?[NSDeletedObjectIDsKey] as? ObjectIDCollection ?? ObjectIDCollection()
          // An object reads as it did until its context forgets it.
          let numbers = objects.compactMap { $0.value(forKey: "number") as? Int }.sorted()
          let keys = ids.map { "\($0.entity.name ?? "")\($0.storeKey ?? 0)" }.sorted()
          if numbers.isEmpty, keys.isEmpty { return }
          diary.note("\(level) \(name.rawValue.contains("Save") ? "saves" : "changes") \(numbers) \(keys)")
        })
    }
  }

  private var leaf: NSManagedObjectContext { contexts[0] }

  // MARK: Playing

  /// - Returns: The first disagreement with the reference; nil if there is none.
  func play(rounds: Int) throws -> String? {
    for _ in 0..<rounds {
      try leaf.performAndWait { try fill() }
      for level in contexts.indices { try save(level) }
      held = []
      for context in contexts { context.performAndWait { context.reset() } }
      for _ in 0..<Int.random(in: 4..<14, using: &random) {
        try leaf.performAndWait { try step() }
        if let found = try leaf.performAndWait({ try disagreement() }) { return found }
      }
      for level in contexts.indices { try save(level) }
      if let found = try rowDisagreement() { return found }
    }
    return nil
  }

  private func fill() throws {
    for _ in 0..<Int.random(in: 1..<4, using: &random) {
      let shop = make("Shop")
      references[0].shops.insert(number(of: shop))
      for _ in 0..<Int.random(in: 0..<4, using: &random) { addBox(to: shop, depth: 0) }
    }
  }

  private func addBox(to owner: NSManagedObject, depth: Int) {
    let box = make("Box")
    let isInner = owner.entity.name == "Box"
    box.setValue(owner, forKey: isInner ? "outer" : "shop")
    references[0].boxes[number(of: box)] = isInner ? (nil, number(of: owner)) : (number(of: owner), nil)
    for _ in 0..<Int.random(in: 0..<25, using: &random) { addPart(to: box) }
    if depth < 3 { for _ in 0..<Int.random(in: 0..<2, using: &random) { addBox(to: box, depth: depth + 1) } }
  }

  private func addPart(to box: NSManagedObject) {
    let part = make(Int.random(in: 0..<4, using: &random) == 0 ? "Screw" : "Part")
    part.setValue(box, forKey: "box")
    references[0].parts[number(of: part)] = number(of: box)
    guard Int.random(in: 0..<8, using: &random) == 0 else { return }
    let tag = make("Tag")
    tag.setValue(NSSet(object: part), forKey: "parts")
    references[0].tags[number(of: part)] = [number(of: tag)]
  }

  private func make(_ entity: String) -> NSManagedObject {
    lastNumber += 1
    let object = LinkedGraph.make(entity, lastNumber, in: leaf)
    if entity == "Part" { object.setValue("part \(lastNumber)", forKey: "label") }
    return object
  }

  private func number(of object: NSManagedObject) -> Int { object.value(forKey: "number") as? Int ?? 0 }

  private func step() throws {
    let reference = references[0]
    switch Int.random(in: 0..<13, using: &random) {
    case 0..<4:
      let owners = reference.shops.sorted() + reference.boxes.keys.sorted()
      guard let number = owners.randomElement(using: &random) else { return }
      guard let owner = try object(number) else { return }
      leaf.delete(owner)
      leaf.processPendingChanges()
      references[0].delete(number)
    case 4:
      guard let part = reference.parts.keys.sorted().randomElement(using: &random) else { return }
      let context = contexts.randomElement(using: &random) ?? leaf
      try context.performAndWait { if let found = try find(part, in: context) { held.append(found) } }
    case 5:
      guard let part = reference.parts.keys.sorted().randomElement(using: &random),
        let box = reference.boxes.keys.sorted().randomElement(using: &random)
      else { return }
      guard let moved = try object(part), let owner = try object(box) else { return }
      moved.setValue(owner, forKey: "box")
      references[0].parts[part] = .some(box)
    case 6:
      guard let box = reference.boxes.keys.sorted().randomElement(using: &random) else { return }
      if let owner = try object(box) { addPart(to: owner) }
    case 7:
      let last = Int.random(in: contexts.indices, using: &random)
      for level in 0...last { try save(level) }
    case 8:
      held = []
      leaf.rollback()
      references[0] = references[1]
    case 9: held = []
    case 10..<12 where hasRivals: try rivalStep()
    default: try look()
    }
  }

  /// Reads what a deletion must have reached.
  private func look() throws {
    let deleted = leaf.deletedObjects.compactMap { $0.value(forKey: "number") as? Int }.sorted()
    diary.note("deleted \(deleted)")
    guard let id = leaf.deletedObjects.map(\.objectID).min(by: { $0.key.number < $1.key.number }) else { return }
    let isGone = (try? leaf.existingObject(with: id)) == nil
    diary.note("\(isGone) \(leaf.object(with: id).isDeleted) \(leaf.registeredObjects.count { $0.isDeleted })")
  }

  /// Another coordinator changes or deletes a row, which the contexts may be about to delete.
  private func rivalStep() throws {
    let stored = references[contexts.count].parts.keys.sorted()
    let deleted = stored.filter { references[0].parts[$0] == nil }
    guard let part = (deleted.isEmpty ? stored : deleted).randomElement(using: &random) else { return }
    let deletes = Bool.random(using: &random)
    try rival.performAndWait {
      rival.reset()
      guard let found = try find(part, in: rival) else { return }
      if deletes { rival.delete(found) } else { found.setValue("changed", forKey: "label") }
      try rival.save()
    }
  }

  private func save(_ level: Int) throws {
    let context = contexts[level]
    do {
      try context.performAndWait { try context.save() }
      references[level + 1] = references[level]
    } catch let error as NSError where hasRivals {
      diary.note("\(level) \(error.code)")
      try context.performAndWait {
        context.rollback()
        if level > 0 { try resetChildren() }
      }
    }
  }

  private func resetChildren() throws { for context in contexts { context.performAndWait { context.reset() } } }

  /// Nil if another coordinator has deleted the object.
  private func object(_ number: Int) throws -> NSManagedObject? {
    if hasRivals { return try find(number, in: leaf) }
    let found: NSManagedObject = try #require(try find(number, in: leaf), "\(number)")
    return found
  }

  private func find(_ number: Int, in context: NSManagedObjectContext) throws -> NSManagedObject? {
    for entity in ["Part", "Box", "Shop"] {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      request.predicate = NSPredicate(format: "number == %d", number)
      if let found = try context.fetch(request).first { return found }
    }
    return nil
  }

  // MARK: Comparing

  private func disagreement() throws -> String? {
    if hasRivals { return nil }
    var found = CascadeReference()
    for shop in try all("Shop") { found.shops.insert(number(of: shop)) }
    for box in try all("Box") {
      found.boxes[number(of: box)] = (one(box, "shop"), one(box, "outer"))
    }
    for part in try all("Part") {
      found.parts[number(of: part)] = .some(one(part, "box"))
      let tags = (part.value(forKey: "tags") as? NSSet)?.compactMap { ($0 as? NSManagedObject).map(number) } ?? []
      if !tags.isEmpty { found.tags[number(of: part)] = Set(tags) }
    }
    return found == references[0] ? nil : "\(found.text)\nexpected\n\(references[0].text)"
  }

  private func all(_ entity: String) throws -> [NSManagedObject] {
    try leaf.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
  }

  private func one(_ object: NSManagedObject, _ key: String) -> Int? {
    (object.value(forKey: key) as? NSManagedObject).map(number)
  }

  private func rowDisagreement() throws -> String? {
    guard !hasRivals, graph.kind == .sqlite else { return nil }
    let rows = try rows()
    return rows == references[contexts.count].text ? nil : "\(rows)\nexpected\n\(references[contexts.count].text)"
  }

  private func rows() throws -> String {
    func list(_ sql: String) throws -> String {
      try sqlite(graph.file, sql).split(separator: "\n").joined(separator: " ")
    }
    return try [
      list("SELECT ZNUMBER FROM ZTHING ORDER BY 1"),
      list(
        "SELECT b.ZNUMBER, s.ZNUMBER, o.ZNUMBER FROM ZBOX b LEFT JOIN ZTHING s ON s.Z_PK = b.ZSHOP "
          + "LEFT JOIN ZBOX o ON o.Z_PK = b.ZOUTER ORDER BY 1"),
      list("SELECT p.ZNUMBER, b.ZNUMBER FROM ZPART p LEFT JOIN ZBOX b ON b.Z_PK = p.ZBOX ORDER BY 1"),
      list(
        "SELECT p.ZNUMBER, t.ZNUMBER FROM (SELECT * FROM \(joinTable())) j JOIN ZPART p ON p.Z_PK = j.part "
          + "JOIN ZTAG t ON t.Z_PK = j.tag ORDER BY 1, 2"),
    ].joined(separator: "; ")
  }

  private func joinTable() throws -> String {
    let table = try sqlite(graph.file, "SELECT name FROM sqlite_master WHERE name GLOB 'Z_[0-9]*' AND type = 'table'")
    let columns = try sqlite(graph.file, "SELECT name FROM pragma_table_info('\(table)') ORDER BY name")
      .split(separator: "\n").map(String.init)
    let tag = columns.first { $0.contains("TAGS") } ?? ""
    let part = columns.first { $0.contains("PARTS") } ?? ""
    return "(SELECT \(part) part, \(tag) tag FROM \(table))"
  }

  /// All rows with their versions.
  func dump() throws -> String {
    try ["ZTHING", "ZBOX", "ZPART", "ZTAG"].map { try sqlite(graph.file, "SELECT * FROM \($0) ORDER BY Z_PK") }
      .joined(separator: "\n--\n")
  }
}
