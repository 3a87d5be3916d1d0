import Foundation

/// Converts keyed archives to objects and objects to keyed archives. (Apple documentation:
/// NSSecureUnarchiveFromDataTransformer.)
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
  /// The classes that an archive may contain, at the top level and inside. Subclasses add their own, which must conform
  /// to NSSecureCoding.
  open class var allowedTopLevelClasses: [AnyClass] {
    [
      NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSURL.self,
      NSUUID.self, NSNull.self,
    ]
  }

  /// The object in an archive; nil if the data is not an archive or contains another class.
  open override func transformedValue(_ value: Any?) -> Any? {
    (value as? Data).flatMap { Self.object(in: $0, allowing: Self.allowedTopLevelClasses) }
  }

  static func object(in data: Data, allowing classes: [AnyClass]) -> Any? {
    guard let archive = try? KeyedArchive(data), UnarchivingCheck.passes(archive, as: classes) else { return nil }
    return try? NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data)
  }

  /// The archive of an object; nil if the object can't be archived.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let value else { return nil }
    return Self.archive(of: value)
  }

  static func archive(of value: Any) -> Data? {
    if holdsDecimal(value, depth: 0) { return nil }
    return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
  }

  /// Whether a decimal number is in a value or its members. Foundation's archiver asks each object for its hash, and
  /// on Linux that of an `NSDecimalNumber` calls itself without end.
  private static func holdsDecimal(_ value: Any, depth: Int) -> Bool {
    guard depth < UnarchivingCheck.depthMax else { return false }
    if value is NSDecimalNumber || value is Decimal { return true }
    let members: [Any] =
      switch value {
      case let list as [Any]: list
      case let values as [AnyHashable: Any]: Array(values.keys) + Array(values.values)
      case let set as Set<AnyHashable>: Array(set)
      default: []
      }
    return members.contains { holdsDecimal($0, depth: depth + 1) }
  }
}
