import Foundation

/// Compiled models to start from: one made here, and those of Apple's framework where they are to be had.
enum ArchiveSeeds {
  static let all: [Data] = [made()].compactMap { $0 } + SharedStores.compiledModels

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
