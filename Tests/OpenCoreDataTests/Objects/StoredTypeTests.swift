import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (docs/coredata-format.md, "Values"; Apple documentation: NSAttributeType, defaultValue): the form of each type
// in the file, as another program reads and writes it, and its Swift type when it is read back; a single object starts
// with the defaults.

@Suite("Each type has its form in the file and its type in Swift")
struct StoredTypeTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let type: NSAttributeType
    /// What is set, and what is read back.
    let value: @Sendable () -> any Hashable
    /// As the shell quotes it, with its storage class.
    let quoted: String
    let isSame: @Sendable (Any?) -> Bool

    init<Value: Hashable & SendableMetatype>(
      _ name: String, _ type: NSAttributeType, value: @escaping @Sendable () -> Value, quoted: String
    ) {
      (testDescription, self.type, self.quoted) = (name, type, quoted)
      self.value = { value() }
      isSame = { ($0 as? Value) == value() }
    }
  }

  static let cases = [
    Case(
      "UUID", .UUIDAttributeType, value: { UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F") ?? UUID() },
      quoted: "blob X'E621E1F8C36C495A93FC0C247A3E6E5F'"),
    Case("URI", .URIAttributeType, value: { URL(filePath: "/reef break/1") }, quoted: "text 'file:///reef%20break/1'"),
    Case(
      "Decimal with a fraction", .decimalAttributeType, value: { NSDecimalNumber(string: "12.25") },
      quoted: "real 12.25"),
    Case("whole Decimal", .decimalAttributeType, value: { NSDecimalNumber(string: "700") }, quoted: "integer 700"),
    Case("Binary", .binaryDataAttributeType, value: { Data([0, 39, 255]) }, quoted: "blob X'0027FF'"),
    Case("Boolean", .booleanAttributeType, value: { true }, quoted: "integer 1"),
    Case("Integer 16", .integer16AttributeType, value: { Int16.min }, quoted: "integer -32768"),
    Case("Float", .floatAttributeType, value: { Float(0.5) }, quoted: "real 0.5"),
    Case("Date", .dateAttributeType, value: { Date(timeIntervalSinceReferenceDate: 0.5) }, quoted: "real 0.5"),
    Case("String", .stringAttributeType, value: { "it's" }, quoted: "text 'it''s'"),
  ]

  private func stack(_ folder: TemporaryFolder, _ one: Case, default value: Any? = nil) throws -> Stack {
    try Stack(
      folder,
      model: Sessions.model { entity in
        let attribute = Sessions.attribute("value", one.type)
        attribute.defaultValue = value
        entity.properties += [attribute]
      })
  }

  private func read(_ stack: Stack) throws -> Any? {
    let context = stack.context()
    return try context.performAndWait {
      let object = try #require(try context.fetch(stack.request()).first)
      return object.value(forKey: "value").map { $0 as Any }
    }
  }

  @Test("What is set is in the file as other programs expect it, and comes back as it was", arguments: cases)
  func journey(one: Case) throws {
    let folder = try TemporaryFolder()
    let stack = try stack(folder, one)
    let context = stack.context()
    try context.performAndWait {
      NSManagedObject.make(stack.entity, in: context).setValue(one.value(), forKey: "value")
      try context.save()
    }
    let column = "SELECT typeof(ZVALUE) || ' ' || quote(ZVALUE) FROM ZSESSION"
    #expect(try sqlite(stack.file, column) == one.quoted)
    let back = try read(stack)
    #expect(one.isSame(back), "\(back ?? "nil")")
  }

  @Test("What another program wrote is read", arguments: cases)
  func foreign(one: Case) throws {
    let folder = try TemporaryFolder()
    let stack = try stack(folder, one)
    let literal = one.quoted.drop { $0 != " " }
    try sqlite(
      stack.file,
      "INSERT INTO ZSESSION(Z_PK, Z_ENT, Z_OPT, ZVALUE) VALUES (1, 1, 1, \(literal)); UPDATE Z_PRIMARYKEY SET Z_MAX = 1"
    )
    let back = try read(stack)
    #expect(one.isSame(back), "\(back ?? "nil")")
  }

  @Test("A new object has the default, and stores it", arguments: cases)
  func defaults(one: Case) throws {
    let folder = try TemporaryFolder()
    let stack = try stack(folder, one, default: one.value())
    let context = stack.context()
    try context.performAndWait {
      let object = NSManagedObject.make(stack.entity, in: context)
      #expect(one.isSame(object.value(forKey: "value")))
      #expect(object.changedValues().isEmpty && object.hasChanges)
      try context.save()
    }
    #expect(try sqlite(stack.file, "SELECT typeof(ZVALUE) || ' ' || quote(ZVALUE) FROM ZSESSION") == one.quoted)
  }
}
