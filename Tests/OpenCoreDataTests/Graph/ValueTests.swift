import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (docs/coredata-format.md, "Values"; Apple documentation: NSAttributeType): a value is read back as it was set,
// bit for bit where the store keeps bits, from a pending row, through a chain and from the disk; validation refuses
// values that a store can't hold; both ways of inserting agree.

@Suite("Values survive every level as they are", .overBothStores)
struct ValueTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let type: NSAttributeType
    let value: StoredValue
    /// As the sqlite3 shell quotes it; nil where only our reading counts.
    var quoted: String?

    init(_ name: String, _ type: NSAttributeType, value: StoredValue, quoted: String? = nil) {
      (testDescription, self.type, self.value, self.quoted) = (name, type, value, quoted)
    }
  }

  static let cases = [
    Case("least Int64", .integer64AttributeType, value: .integer(.min), quoted: "-9223372036854775808"),
    Case("greatest Int64", .integer64AttributeType, value: .integer(.max), quoted: "9223372036854775807"),
    Case("false", .booleanAttributeType, value: .integer(0), quoted: "0"),
    Case("least positive double", .doubleAttributeType, value: .real(.leastNonzeroMagnitude)),
    Case("infinity", .doubleAttributeType, value: .real(.infinity)),
    Case("a third", .doubleAttributeType, value: .real(1 / 3)),
    Case("whole seconds", .dateAttributeType, value: .real(427_000_000), quoted: "427000000"),
    Case("a fraction of a second", .dateAttributeType, value: .real(120303488.92925799)),
    Case("before 2001", .dateAttributeType, value: .real(-3_155_673_600.25), quoted: "-3155673600.25"),
    Case("empty text", .stringAttributeType, value: .text(""), quoted: "''"),
    Case("text with a NUL", .stringAttributeType, value: .text("a\u{0}b")),
    Case("decomposed text", .stringAttributeType, value: .text("e\u{301}")),
    Case("text beyond the basic plane", .stringAttributeType, value: .text("🏄🏽‍♀️")),
    Case("a long text", .stringAttributeType, value: .text(String(repeating: "wave ", count: 100_000))),
    Case("empty data", .binaryDataAttributeType, value: .blob(Data()), quoted: "X''"),
    Case("data", .binaryDataAttributeType, value: .blob(Data([0, 1, 254, 255])), quoted: "X'0001FEFF'"),
    Case(
      "a URI", .URIAttributeType, value: .text("https://a.example/b%20c?d=e#f"),
      quoted: "'https://a.example/b%20c?d=e#f'"),
    Case("a UUID", .UUIDAttributeType, value: .blob(Data(0..<16)), quoted: "X'000102030405060708090A0B0C0D0E0F'"),
    Case("decimal", .decimalAttributeType, value: .decimal(Decimal(string: "12.75") ?? 0), quoted: "12.75"),
    Case("nil", .stringAttributeType, value: .null, quoted: "NULL"),
  ]

  @Test("From a pending row, through a chain, and from the disk", arguments: cases)
  func journey(one: Case) throws {
    // PostgreSQL keeps no NUL: such an object is refused, which PostgreSQLStoreTests tests.
    if StoreKind.current == .server, case .text(let text) = one.value, text.utf8.contains(0) { return }
    let model = { Sessions.model { $0.properties += [Sessions.attribute("value", one.type)] } }
    let seen = try onBothWays(model: model) { way, stack -> [StoredValue] in
      let (writer, middle, child) = stack.chain()
      let slot = try #require(stack.entity.slot(named: "value"))
      func read(_ context: NSManagedObjectContext) throws -> StoredValue {
        try context.performAndWait { try #require(try context.fetch(stack.request()).first).storedValue(at: slot) }
      }
      child.performAndWait {
        switch way {
        case .bulk:
          var batch = ObjectBatch(entity: stack.entity)
          batch.appendRow()
          batch.setValue(one.value, row: 0, slot: slot)
          child.insert(batch)
        case .single:
          let object = NSManagedObject.make(stack.entity, in: child)
          object.setValue(nil, forKey: "rating")
          object.setStoredValue(one.value, at: slot)
        }
      }
      var seen = [try read(child), try read(stack.context(child))]
      for context in [child, middle, writer] {
        try context.performAndWait { try context.save() }
        seen.append(try read(context))
      }
      seen += [try read(stack.context()), try read(child)]
      if let quoted = one.quoted { #expect(try stack.sqlite("SELECT quote(ZVALUE) FROM ZSESSION") == quoted) }
      return seen
    }
    #expect(seen.count == 7 && Set(seen.map { "\($0)" }) == ["\(one.value)"])
    if case .real(let number) = one.value {
      #expect(
        seen.allSatisfy { if case .real(let found) = $0 { found.bitPattern == number.bitPattern } else { false } })
    }
  }

  @Test(
    "What a store can't keep is refused by validation in both ways, and the rest goes in",
    arguments: InsertionWay.allCases)
  func refused(way: InsertionWay) throws {
    let folder = try TemporaryFolder()
    let model = Sessions.model { $0.properties += [Sessions.attribute("value", .doubleAttributeType)] }
    let stack = try Stack(folder, model: model)
    let context = stack.context()
    let bad: [(key: String, value: StoredValue, code: Int)] = [
      ("rating", .integer(40_000), NSValidationNumberTooLargeError),
      ("rating", .integer(-40_000), NSValidationNumberTooSmallError),
      ("value", .real(.nan), NSManagedObjectValidationError),
      ("date", .real(.infinity), NSValidationInvalidDateError),
      ("place", .integer(1), NSManagedObjectValidationError),
    ]
    try context.performAndWait {
      for (key, value, _) in bad {
        let slot = try #require(stack.entity.slot(named: key))
        switch way {
        case .bulk:
          var batch = ObjectBatch(entity: stack.entity)
          batch.appendRow()
          batch.setValue(value, row: 0, slot: slot)
          context.insert(batch)
        case .single: NSManagedObject.make(stack.entity, in: context).setStoredValue(value, at: slot)
        }
      }
      InsertionWay.bulk.insert(0..<2, into: context, stack.entity)
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect((error?.userInfo[NSDetailedErrorsKey] as? [NSError])?.map(\.code) == bad.map(\.code))
      for id in error?.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID] ?? [] {
        context.delete(context.object(with: id))
      }
      try context.save()
    }
    #expect(try stack.sqlite("SELECT Z_PK, ZPLACE FROM ZSESSION") == "1|Spot 0\n2|Spot 1")
  }

  @Test("A transformable value is an archive below and the value above")
  func transformable() throws {
    let folder = try TemporaryFolder()
    let model = Sessions.model { $0.properties += [Sessions.attribute("tags", .transformableAttributeType)] }
    let stack = try Stack(folder, model: model)
    let context = stack.context()
    let tags = NSDictionary(dictionary: [
      NSString(string: "a"): NSArray(array: [NSNumber(value: 1), NSString(string: "b")])
    ])
    try context.performAndWait {
      NSManagedObject.make(stack.entity, in: context).setValue(tags, forKey: "tags")
      try context.save()
    }
    let other = stack.context()
    try other.performAndWait {
      let object = try #require(try other.fetch(stack.request()).first)
      #expect(object.value(forKey: "tags") as? NSDictionary == tags)
      #expect(!object.hasChanges)
    }
    #expect(try stack.sqlite("SELECT hex(substr(ZTAGS, 1, 8)) FROM ZSESSION") == "62706C6973743030", "bplist00")
  }

  @Test("Values set before an object enters a context, defaults among them, are saved")
  func beforeInsertion() throws {
    let folder = try TemporaryFolder()
    let stack = try Stack(folder)
    let object = NSManagedObject(entity: stack.entity, insertInto: nil)
    object.setValue("alone", forKey: "place")
    #expect(object.value(forKey: "rating") as? Int == 0 && !object.hasChanges)
    let context = stack.context()
    try context.performAndWait {
      context.insert(object)
      try context.save()
    }
    #expect(try stack.sqlite("SELECT ZPLACE, ZRATING FROM ZSESSION") == "alone|0")
  }

  @Test("A batch takes back its last row, and shares its memory with copies until one of them is written")
  func batches() {
    var batch = ObjectBatch(entity: Sessions.model().entities[0])
    for number in 0..<3 {
      batch.appendRow()
      batch.setText("Spot \(number)", at: 1)
    }
    let copy = batch
    batch.removeLastRow()
    batch.setValue(.text("other"), row: 0, slot: 1)
    #expect(batch.count == 2 && copy.count == 3)
    #expect(copy.value(row: 0, slot: 1) == .text("Spot 0") && copy.value(row: 2, slot: 1) == .text("Spot 2"))
    #expect(batch.value(row: 0, slot: 1) == .text("other") && batch.value(row: 1, slot: 1) == .text("Spot 1"))
    batch.removeRows([0])
    #expect(batch.count == 1 && batch.value(row: 0, slot: 1) == .text("Spot 1"))
    batch.removeAll()
    #expect(batch.count == 0)
  }
}
