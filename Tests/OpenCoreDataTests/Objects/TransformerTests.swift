import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: ValueTransformer, NSSecureUnarchiveFromDataTransformer, NSAttributeDescription,
// valueTransformerName): a registered transformer makes the bytes that are stored, an unarchiving one backwards; an
// attribute without a name is archived; reading gives the same object until another is set; equal objects are not a
// change to save, whatever their archives; what a transformer can't take is refused by name.

/// Wind as `direction@knots` in ASCII.
final class WindTransformer: ValueTransformer {
  override class func transformedValueClass() -> AnyClass { NSData.self }
  override class func allowsReverseTransformation() -> Bool { true }
  override func transformedValue(_ value: Any?) -> Any? {
    guard let wind = value as? Wind else { return nil }
    return Data("\(wind.direction)@\(wind.knots)".utf8)
  }
  override func reverseTransformedValue(_ value: Any?) -> Any? {
    let parts = (value as? Data).map { String(decoding: $0, as: UTF8.self).split(separator: "@") } ?? []
    guard parts.count == 2, let knots = Int(parts[1]) else { return nil }
    return Wind(direction: String(parts[0]), knots: knots)
  }
}

final class Wind: NSObject {
  let direction: String
  let knots: Int
  init(direction: String, knots: Int) { (self.direction, self.knots) = (direction, knots) }
  override func isEqual(_ object: Any?) -> Bool {
    (object as? Wind).map { $0.direction == direction && $0.knots == knots } ?? false
  }
  override var hash: Int { knots }
}

/// Lets texts and nothing else through.
final class TextUnarchiver: NSSecureUnarchiveFromDataTransformer {
  override class var allowedTopLevelClasses: [AnyClass] { [NSString.self] }
}

/// One way only.
final class Digest: ValueTransformer {
  override class func allowsReverseTransformation() -> Bool { false }
}

@Suite("Transformables are stored as their transformer says")
struct TransformerTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    ValueTransformer.setValueTransformer(WindTransformer(), forName: NSValueTransformerName("WindTransformer"))
    ValueTransformer.setValueTransformer(TextUnarchiver(), forName: NSValueTransformerName("TextUnarchiver"))
  }

  private static func model(_ transformer: String?, default value: Any? = nil) -> NSManagedObjectModel {
    Sessions.model { entity in
      let wind = Sessions.attribute("wind", .transformableAttributeType)
      wind.valueTransformerName = transformer
      wind.defaultValue = value
      entity.properties += [wind]
    }
  }

  @Test("A transformer of the client's makes the bytes in the store, and objects of them")
  func custom() throws {
    let stack = try Stack(folder, model: Self.model("WindTransformer", default: Wind(direction: "E", knots: 3)))
    let (writer, _, child) = stack.chain()
    let offshore = Wind(direction: "NE", knots: 12)
    try child.performAndWait {
      let object = NSManagedObject.make(stack.entity, in: child)
      #expect(object.value(forKey: "wind") as? Wind == Wind(direction: "E", knots: 3))
      object.setValue(offshore, forKey: "wind")
      #expect(object.value(forKey: "wind") as? Wind === offshore)
      _ = NSManagedObject.make(stack.entity, in: child)
      try child.save()
    }
    try child.parent?.performAndWait { try child.parent?.save() }
    try writer.performAndWait { try writer.save() }
    #expect(try sqlite(stack.file, "SELECT ZWIND, typeof(ZWIND) FROM ZSESSION ORDER BY Z_PK") == "NE@12|blob\nE@3|blob")
    try sqlite(stack.file, "UPDATE ZSESSION SET ZWIND = CAST('SW@40' AS BLOB) WHERE Z_PK = 2")
    let other = stack.context()
    try other.performAndWait {
      let winds = try other.fetch(stack.request()).map { $0.value(forKey: "wind") as? Wind }
      #expect(winds == [offshore, Wind(direction: "SW", knots: 40)])
    }
  }

  @Test("Reading gives the same object until another is set, and an equal one is not a change to save")
  func identity() throws {
    let stack = try Stack(folder, model: Self.model("WindTransformer"))
    let context = stack.context()
    try context.performAndWait {
      NSManagedObject.make(stack.entity, in: context).setValue(Wind(direction: "N", knots: 1), forKey: "wind")
      try context.save()
      context.reset()
      let object = try #require(try context.fetch(stack.request()).first)
      let first = object.value(forKey: "wind") as? Wind
      #expect(first != nil && object.value(forKey: "wind") as? Wind === first)
      object.setValue(Wind(direction: "N", knots: 1), forKey: "wind")
      #expect(object.hasChanges && !object.hasPersistentChangedValues)
      object.setValue(Wind(direction: "N", knots: 2), forKey: "wind")
      #expect((object.changedValues()["wind"] as? Wind)?.knots == 2)
      #expect((object.committedValues(forKeys: ["wind"])["wind"] as? Wind)?.knots == 1)
      context.rollback()
      #expect((object.value(forKey: "wind") as? Wind)?.knots == 1)
    }
  }

  @Test("Equal dictionaries are not a change, though their archives may differ")
  func archives() throws {
    let stack = try Stack(folder, model: Self.model(nil))
    let context = stack.context()
    let pairs = (0..<40).map { ("key \($0)", $0) }
    try context.performAndWait {
      NSManagedObject.make(stack.entity, in: context).setValue(Dictionary(uniqueKeysWithValues: pairs), forKey: "wind")
      try context.save()
      let object = try #require(try context.fetch(stack.request()).first)
      for _ in 0..<5 {
        object.setValue(Dictionary(uniqueKeysWithValues: pairs.shuffled()), forKey: "wind")
        #expect(!object.hasPersistentChangedValues)
      }
      try context.save()
    }
    #expect(try sqlite(stack.file, "SELECT Z_OPT FROM ZSESSION") == "1")
  }

  @Test(
    "The unarchiving transformers store keyed archives",
    arguments: [nil, "", "NSSecureUnarchiveFromData", "NSKeyedUnarchiveFromData", "TextUnarchiver"] as [String?])
  func unarchiving(name: String?) throws {
    let stack = try Stack(folder, model: Self.model(name))
    let context = stack.context()
    try context.performAndWait {
      NSManagedObject.make(stack.entity, in: context).setValue("light, offshore", forKey: "wind")
      try context.save()
      context.reset()
      #expect(try context.fetch(stack.request()).first?.value(forKey: "wind") as? String == "light, offshore")
    }
    #expect(try sqlite(stack.file, "SELECT substr(ZWIND, 1, 6) FROM ZSESSION") == "bplist")
  }

  @Test("What holds a class that is not allowed, or is not an archive, reads as nil")
  func refused() throws {
    let text = TextUnarchiver()
    let list = NSSecureUnarchiveFromDataTransformer().reverseTransformedValue(["a"])
    #expect(text.transformedValue(list) == nil && text.transformedValue(Data([1, 2])) == nil)
    #expect(NSSecureUnarchiveFromDataTransformer().transformedValue(list) as? [String] == ["a"])
    let all = NSSecureUnarchiveFromDataTransformer()
    #expect(text.transformedValue(all.reverseTransformedValue(5)) == nil)
    let mixed: [String: Any] = [
      "list": NSMutableArray(array: [1.5, true]), "url": URL(filePath: "/a"), "id": UUID(), "day": Date(),
      "data": Data([1]),
    ]
    let back = all.transformedValue(all.reverseTransformedValue(mixed)) as? NSDictionary
    #expect(back == NSDictionary(dictionary: mixed))
    #expect(text.transformedValue(nil) == nil && text.reverseTransformedValue(nil) == nil)
  }

  @Test("Transformers are registered, found, listed and forgotten by name")
  func registry() {
    let name = NSValueTransformerName("registry test")
    #expect(ValueTransformer(forName: name) == nil)
    let mine = Digest()
    ValueTransformer.setValueTransformer(mine, forName: name)
    #expect(ValueTransformer(forName: name) === mine && ValueTransformer.valueTransformerNames().contains(name))
    #expect(ValueTransformer(forName: .secureUnarchiveFromDataTransformerName) is NSSecureUnarchiveFromDataTransformer)
    ValueTransformer.setValueTransformer(nil, forName: name)
    #expect(ValueTransformer(forName: name) == nil && !ValueTransformer.valueTransformerNames().contains(name))
  }

  @Test("Without its transformer a value is the stored bytes, and bytes are stored as they are")
  func unregistered() throws {
    let stack = try Stack(folder, model: Self.model("TideTransformer"))
    let context = stack.context()
    try context.performAndWait {
      NSManagedObject.make(stack.entity, in: context).setValue(Data("tide".utf8), forKey: "wind")
      try context.save()
      context.reset()
      #expect(try context.fetch(stack.request()).first?.value(forKey: "wind") as? Data == Data("tide".utf8))
    }
  }

  @Test(
    "A value other than bytes for an unknown transformer, a value it can't take and a way back that there is none stop the program"
  )
  func stops() async {
    let unknown = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      NSManagedObject(entity: Self.model("TideTransformer").entities[0], insertInto: nil).setValue(1, forKey: "wind")
    }
    #expect(unknown.message.contains("Unacceptable type of value for attribute: property = \"wind\""))
    let value = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      ValueTransformer.setValueTransformer(WindTransformer(), forName: NSValueTransformerName("WindTransformer"))
      NSManagedObject(entity: Self.model("WindTransformer").entities[0], insertInto: nil).setValue(
        "12 kn", forKey: "wind")
    }
    #expect(value.message.contains("Unacceptable type of value for attribute: property = \"wind\""))
    let back = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Digest().reverseTransformedValue(1)
    }
    #expect(back.message.contains("Digest has no reverse transformation"))
  }
}
