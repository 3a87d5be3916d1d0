import Foundation

/// What a keyed archive holds, looked at before it is unarchived: Foundation here ends the program at a class that was
/// not allowed, whatever policy for failures it was given.
struct KeyedArchive {
  /// Null, then the root, then what that refers to; an object names its class by a dictionary with these keys.
  private let objects: [Any]

  /// Nil for data that is no keyed archive.
  init?(_ data: Data) {
    guard let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
      list["$archiver"] as? String == "NSKeyedArchiver", let objects = list["$objects"] as? [Any], objects.count > 1
    else { return nil }
    self.objects = objects
  }

  /// Whether every object is of one of `classes`, or inherits from one.
  func holdsOnly(_ classes: [AnyClass]) -> Bool {
    let names = Set(
      classes.flatMap { [NSStringFromClass($0), NSKeyedArchiver.classNameForClass($0)].compactMap { $0 } })
    let rootFits = rootClassName.map(names.contains) ?? true
    return rootFits
      && objects.allSatisfy { object in
        guard let chain = (object as? [String: Any])?["$classes"] as? [String] else { return true }
        return !names.isDisjoint(with: chain)
      }
  }

  /// The class of a root that the archive has as it is; nil for one that names its class.
  private var rootClassName: String? {
    switch objects[1] {
    case is String: "NSString"
    case is Data: "NSData"
    case is NSNumber: "NSNumber"
    default: nil
    }
  }
}
