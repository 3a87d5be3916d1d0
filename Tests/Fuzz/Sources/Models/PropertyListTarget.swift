import Foundation
import ManagedObjectModel
import PersistentStores

/// Metadata of a store, which are any property list, are written as Foundation reads them back.
enum PropertyListTarget: FuzzTarget {
  static let name = "property-lists"
  static let words = ["bplist00", "NSStoreModelVersionHashes", "NSStoreType", "NSPersistenceFrameworkVersion"]
  private static var lists: [[String: Any]] {
    [
      [
        "a": [1, -2, 0.5, true, "é", Data([1, 2])], "b": [String: Any](), "c": Date(timeIntervalSinceReferenceDate: 5),
      ],
      ["NSStoreType": "SQLite", "NSStoreModelVersionHashes": ["A": Data(repeating: 1, count: 32)]],
    ]
  }
  static let seeds: [[UInt8]] = lists.flatMap { list in
    [PropertyListSerialization.PropertyListFormat.binary, .xml].compactMap { format in
      (try? PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)).map { Array($0) }
    }
  }

  static func run(_ input: inout FuzzInput) {
    do {
      let metadata = try StoreMetadata(propertyList: Data(input.rest))
      guard let written = try? metadata.propertyList() else { return }
      let again = try StoreMetadata(propertyList: written)
      let (found, expected) = (again.dictionary as NSDictionary, metadata.dictionary as NSDictionary)
      if hasNaN(metadata.dictionary) { return }
      if !found.isEqual(expected) { broken("metadata are read back", "found    \(found)\nexpected \(expected)") }
      requireEqual(try again.propertyList(), written, rule: "equal metadata are equal bytes")
    } catch {
      if (error as NSError).localizedDescription.isEmpty { broken("unreadable metadata have a reason") }
    }
  }

  /// NaN equals nothing, not even itself, and Foundation cannot print a date of it.
  private static func hasNaN(_ value: Any) -> Bool {
    switch value {
    case let values as [String: Any]: values.values.contains(where: hasNaN)
    case let values as [Any]: values.contains(where: hasNaN)
    case let date as Date: date.timeIntervalSinceReferenceDate.isNaN
    case let number as NSNumber: number.doubleValue.isNaN
    default: false
    }
  }
}
