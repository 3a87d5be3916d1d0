import Foundation

/// Makes objects of keyed archives, and archives of objects. (Apple documentation: NSSecureUnarchiveFromDataTransformer.)
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
  /// The classes that an archive may hold, at its top and inside. Subclasses add their own, which have to conform to
  /// NSSecureCoding.
  open class var allowedTopLevelClasses: [AnyClass] {
    [
      NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSURL.self,
      NSUUID.self, NSNull.self,
    ]
  }

  /// The object in an archive; nil for what is none, or holds another class.
  open override func transformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data, (try? KeyedArchive(data))?.holdsOnly(Self.allowedTopLevelClasses) == true else {
      return nil
    }
    return try? NSKeyedUnarchiver.unarchivedObject(ofClasses: Self.allowedTopLevelClasses, from: data)
  }

  /// The archive of an object; nil for one that can't be archived.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let value else { return nil }
    return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
  }
}
