import Foundation

/// A class that can name the properties on a Swift key path into it. NSManagedObject evaluates the key path on an
/// object that records which accessors are called. Swift itself does not keep the names of accessors.
package protocol KeyPathNaming: AnyObject {
  /// The names; nil if the key path does not consist of the class's own properties.
  static func propertyNames(of keyPath: AnyKeyPath) -> [String]?
}

/// Finds names for key paths.
enum KeyPathNames {
  /// Asks the root class first. The key path's own description names stored properties.
  static func names(of keyPath: AnyKeyPath) -> [String]? {
    if let root = type(of: keyPath).rootType as? any KeyPathNaming.Type,
      let names = root.propertyNames(of: keyPath)
    {
      return names
    }
    return names(inDescription: keyPath.debugDescription)
  }

  /// `\Root.a.b` gives a and b; a component that is not a plain name (`<computed …>`, a subscript) gives nil.
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
