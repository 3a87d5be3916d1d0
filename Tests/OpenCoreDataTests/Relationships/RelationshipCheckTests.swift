import Foundation
import OpenCoreData
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObject, validateForUpdate(): it "iterates through all of the receiver's properties
// validating each in turn"; validateValue(_:forKey:)): relationships pass the class's own checks in each save, as attributes
// do. A collection of another kind than the relationship's, and an index without an object, stop the program.

/// A seat that checks who sits on it, and with whom its row is shared.
final class CheckedSeat: NSManagedObject {
  override class var lifecycleHooks: LifecycleHooks { .validation }
  override class var propertyValidators: [String: PropertyValidator] {
    ["guest": validator(CheckedSeat.validateGuest), "labels": validator(CheckedSeat.validateLabels)]
  }

  /// Guest 13 is refused, and guest 12 is replaced by nil.
  private func validateGuest(_ value: inout Any?) throws {
    switch (value as? NSManagedObject)?.value(forKey: "number") as? Int {
    case 13: throw NSError(domain: "seats", code: 13)
    case 12: value = nil
    default: break
    }
  }

  private func validateLabels(_ value: inout Any?) throws {
    if ((value as? NSSet)?.count ?? 0) > 2 { throw NSError(domain: "seats", code: 3) }
  }
}

/// Overrides the check of all values, and notes for which it was called.
final class NotingSeat: NSManagedObject {
  nonisolated(unsafe) static var checked: [String] = []
  override class var lifecycleHooks: LifecycleHooks { .validation }
  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    Self.checked.append("\(key) \((value as? NSSet).map { "\($0.count)" } ?? (value == nil ? "nil" : "one"))")
    try super.validateValue(&value, forKey: key)
  }
}

@Suite("Checks of relationships", .overBothStores)
struct RelationshipCheckTests {
  private static func xml(_ className: String) -> String {
    """
    <model>
      <entity name="Guest">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="seat" optional="YES" maxCount="1" destinationEntity="Seat" inverseName="guest" inverseEntity="Seat"/>
      </entity>
      <entity name="Label">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="seat" optional="YES" maxCount="1" destinationEntity="Seat" inverseName="labels" inverseEntity="Seat"/>
      </entity>
      <entity name="Seat" representedClassName="OpenCoreDataTests.\(className)">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="guest" optional="YES" maxCount="1" destinationEntity="Guest" inverseName="seat" inverseEntity="Guest"/>
        <relationship name="labels" optional="YES" toMany="YES" destinationEntity="Label" inverseName="seat" inverseEntity="Label"/>
      </entity>
    </model>
    """
  }

  @Test("The checks that a class lists are made for each save, and may replace the value")
  func listedChecks() throws {
    let graph = try LinkedGraph(xml: Self.xml("CheckedSeat"), kind: .current)
    let context = graph.context()
    try context.performAndWait {
      let seat = LinkedGraph.make("Seat", 1, in: context)
      let guests = (11...13).map { LinkedGraph.make("Guest", $0, in: context) }
      let labels = (21...23).map { LinkedGraph.make("Label", $0, in: context) }
      seat.setValue(guests[2], forKey: "guest")
      #expect(throws: NSError(domain: "seats", code: 13)) { try context.save() }
      guests[1].setValue(seat, forKey: "seat")
      try context.save()
      #expect(seat.value(forKey: "guest") == nil && guests[1].value(forKey: "seat") == nil)
      guests[0].setValue(seat, forKey: "seat")
      labels[0].setValue(seat, forKey: "seat")
      try context.save()
      #expect(LinkedGraph.numbers(seat, "guest") == [11])
      // Added to without being read: the check reads it.
      for label in labels[1...] { label.setValue(seat, forKey: "seat") }
      #expect(throws: NSError(domain: "seats", code: 3)) { try context.save() }
      labels[0].setValue(nil, forKey: "seat")
      try context.save()
      #expect(LinkedGraph.numbers(seat, "labels") == [22, 23])
      seat.setValue(guests[2], forKey: "guest")
      #expect(throws: NSError(domain: "seats", code: 13)) { try seat.validateForUpdate() }
      context.rollback()
    }
  }

  @Test("A class that checks all values gets those of new and of changed relationships")
  func overriddenCheck() throws {
    let graph = try LinkedGraph(xml: Self.xml("NotingSeat"), kind: .current)
    let context = graph.context()
    try context.performAndWait { () throws -> Void in
      func checked(_ body: () throws -> Void) throws -> [String] {
        NotingSeat.checked = []
        try body()
        try context.save()
        return NotingSeat.checked.filter { !$0.hasPrefix("number") }.sorted()
      }
      let (guest, label) = (LinkedGraph.make("Guest", 1, in: context), LinkedGraph.make("Label", 2, in: context))
      let seat = LinkedGraph.make("Seat", 3, in: context)
      #expect(try checked { seat.setValue(guest, forKey: "guest") } == ["guest one", "labels 0"])
      #expect(try checked { seat.setValue(nil, forKey: "guest") } == ["guest nil"])
      #expect(try checked { seat.setValue(5, forKey: "number") } == [])
      // Adding does not read the relationship, and neither does the check then.
      #expect(try checked { label.setValue(seat, forKey: "seat") } == [])
      #expect(try checked { seat.setValue(NSSet(), forKey: "labels") } == ["labels 0"])
    }
  }

  @Test("A collection of another kind than the relationship's stops the program with the reason")
  func collections() async {
    let ordered = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Self.box { box, nodes in box.setValue(NSSet(array: nodes), forKey: "items") }
    }
    #expect(
      ordered.message.contains(
        "Unacceptable type of value for ordered to-many relationship: property = \"items\"; desired type = NSOrderedSet; "
          + "given type = NSSet"), "\(ordered.message)")
    let unordered = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Self.box { _, nodes in nodes[0].setValue(nodes, forKey: "children") }
    }
    #expect(
      unordered.message.contains(
        "Unacceptable type of value for to-many relationship: property = \"children\"; desired type = NSSet; given type = "
          + "Array<NSManagedObject>"), "\(unordered.message)")
    await #expect(processExitsWith: .failure) {
      try Self.box { _, nodes in nodes[0].setValue(NSOrderedSet(array: nodes), forKey: "children") }
    }
    await #expect(processExitsWith: .success) {
      try Self.box { box, nodes in
        box.setValue(NSMutableOrderedSet(array: nodes), forKey: "items")
        nodes[0].setValue(NSMutableSet(array: nodes), forKey: "children")
        nodes[0].setValue(Set(nodes), forKey: "friends")
        box.setValue(nil, forKey: "items")
      }
    }
  }

  @Test("An index without an object stops the program with the indices that there are")
  func indices() async {
    let inserted = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Self.box { box, nodes in
        let items = box.mutableOrderedSetValue(forKey: "items")
        items.insert(nodes[0], at: 0)
        items.insert(nodes[1], at: 1)
        items.insert(nodes[2], at: 3)
      }
    }
    #expect(
      inserted.message.contains("The index 3 is beyond the bounds of Box.items; use 0 to 2."), "\(inserted.message)")
    let removed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Self.box { box, _ in box.removeRelatedObjects(at: [0], forKey: "items") }
    }
    #expect(removed.message.contains("The index 0 is beyond the bounds of Box.items; it has no objects."))
    await #expect(processExitsWith: .failure) {
      try Self.box { box, nodes in
        box.setValue(NSOrderedSet(array: [nodes[0]]), forKey: "items")
        box.replaceRelatedObjects(at: [1], with: [nodes[1]], forKey: "items")
      }
    }
  }

  /// Calls `body` with a box and three nodes.
  private static func box(_ body: (NSManagedObject, [NSManagedObject]) throws -> Void) throws {
    let graph = try LinkedGraph()
    let context = graph.context()
    try context.performAndWait {
      try body(
        LinkedGraph.make("Box", 9, in: context), (1...3).map { LinkedGraph.make("Node", $0, in: context) })
    }
  }
}
