import Foundation

import ManagedObjectModel

/// One attribute of every type that predicates know.
package struct SurfSchema: PredicateSchema {
  package init() {}

  package static let types: [String: PredicateValueType] = [
    "rating": .integer, "wind": .integer, "height": .real, "period": .real, "price": .decimal,
    "isClean": .boolean, "date": .date, "until": .date, "location": .text, "name": .text, "link": .uri,
    "uid": .uuid, "photo": .blob,
  ]

  package func attributeType(ofKeyPath keyPath: [String]) throws -> PredicateValueType {
    guard keyPath.count == 1, let type = Self.types[keyPath[0]] else {
      throw NSError(
        domain: NSCocoaErrorDomain, code: 134060,
        userInfo: [NSLocalizedDescriptionKey: "no attribute \(keyPath.joined(separator: "."))"])
    }
    return type
  }

  package static func column(_ key: PredicateKey) -> String {
    "t0.Z" + key.name.uppercased()
  }

  package static let names = types.keys.sorted()
}
