import Foundation

/// Archives to start from: a compiled model, and values of objects.
enum ArchiveSeeds {
  static let own: [Data] = [made()].compactMap { $0 } + values

  private static var values: [Data] {
    let values: [Any] = [
      ["a", 1, Date(timeIntervalSinceReferenceDate: 5), Data([1, 2])] as [Any],
      ["k": URL(fileURLWithPath: "/a"), "u": UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))]
        as [String: Any],
      NSSet(array: ["b", NSNull(), 0.5]),
    ]
    return values.compactMap { try? NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true) }
  }

  private final class Builder {
    var objects: [Any] = ["$null"]

    func add(_ value: Any) -> [String: Any] {
      objects.append(value)
      return ["CF$UID": objects.count - 1]
    }

    func object(_ name: String, _ values: [String: Any]) -> [String: Any] {
      let known = add(["$classname": name, "$classes": [name, "NSObject"]])
      return add(values.merging(["$class": known]) { own, _ in own })
    }

    func dictionary(_ values: [(String, [String: Any])]) -> [String: Any] {
      object("NSMutableDictionary", ["NS.keys": values.map { add($0.0) }, "NS.objects": values.map(\.1)])
    }
  }

  private static func made() -> Data? {
    let builder = Builder()
    let text = builder.object(
      "NSAttributeDescription", ["NSAttributeType": 700, "NSDefaultValue": builder.add("a"), "NSIsOptional": true])
    let date = builder.object("NSAttributeDescription", ["NSAttributeType": 900])
    let link = builder.object(
      "NSRelationshipDescription", ["NSMaxCount": 0, "_NSDestinationEntityName": builder.add("Thing")])
    let properties = builder.dictionary([("text", text), ("date", date), ("link", link)])
    let entity = builder.object(
      "NSEntityDescription", ["NSEntityName": builder.add("Thing"), "NSProperties": properties])
    let root = builder.object("NSManagedObjectModel", ["NSEntities": builder.dictionary([("Thing", entity)])])
    let list: [String: Any] = [
      "$archiver": "NSKeyedArchiver", "$version": 100_000, "$top": ["root": root], "$objects": builder.objects,
    ]
    // Only XML has references of dictionaries; reading it gives those of binary lists.
    guard let xml = try? PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0),
      let read = try? PropertyListSerialization.propertyList(from: xml, format: nil)
    else { return nil }
    return try? PropertyListSerialization.data(fromPropertyList: read, format: .binary, options: 0)
  }
}
