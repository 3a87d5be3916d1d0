import Foundation

/// A class that can say which properties a Swift key path into it leads through: NSManagedObject reads the key
/// path on an object that records which accessors are called. Swift itself keeps no names of accessors.
package protocol KeyPathNaming: AnyObject {
  /// The names, or nil if the key path does not lead through the class's own properties.
  static func propertyNames(of keyPath: AnyKeyPath) -> [String]?
}

/// Finds names for key paths.
enum KeyPathNames {
  /// Asks the root class if it can tell; stored properties are named by the key path's own description.
  static func names(of keyPath: AnyKeyPath) -> [String]? {
    if let root = type(of: keyPath).rootType as? any KeyPathNaming.Type,
      let names = root.propertyNames(of: keyPath)
    {
      return names
    }
    return names(inDescription: keyPath.debugDescription)
  }

  /// `\Root.a.b` gives a and b; anything that is no plain name (`<computed …>`, a subscript) gives nil.
  static func names(inDescription description: String) -> [String]? {
    let parts = description.split(separator: ".", omittingEmptySubsequences: false).dropFirst()
    let names = parts.map { $0.hasSuffix("?") || $0.hasSuffix("!") ? String($0.dropLast()) : String($0) }
    let arePlain = names.allSatisfy { name in
      name.unicodeScalars.first.map(PredicateLexer.startsWord) == true
        && name.unicodeScalars.allSatisfy(PredicateLexer.continuesWord)
    }
    return names.isEmpty || !arePlain || names == ["self"] ? nil : names
  }
}
