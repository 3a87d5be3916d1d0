import Foundation

/// The properties of Foundation's values that predicates in memory read by name, as key-value coding does on Apple's
/// systems: `SELF.length > 3` of an array of texts, `SELF.absoluteString BEGINSWITH "https"`.
enum ValueProperties {
  /// Nil in the outer optional if the value has no property of that name.
  static func value(_ key: String, of object: Any) -> Any?? {
    switch object {
    case let text as String: strings[key].map { $0(text) }
    case let url as URL: urls[key].map { $0(url) }
    case let date as Date: dates[key].map { $0(date) }
    case let data as Data: key == "length" ? .some(data.count) : nil
    case let uuid as UUID: key == "UUIDString" ? .some(uuid.uuidString) : nil
    case let number as NSNumber: numbers[key].map { $0(number) }
    default: nil
    }
  }

  private static let strings: [String: @Sendable (String) -> Any?] = [
    "length": { $0.utf16.count },
    "lowercaseString": { $0.lowercased() },
    "uppercaseString": { $0.uppercased() },
    "capitalizedString": { $0.capitalized },
    "integerValue": { NSString(string: $0).integerValue },
    "intValue": { NSString(string: $0).intValue },
    "longLongValue": { NSString(string: $0).longLongValue },
    "doubleValue": { NSString(string: $0).doubleValue },
    "floatValue": { NSString(string: $0).floatValue },
    "boolValue": { NSString(string: $0).boolValue },
    "lastPathComponent": { NSString(string: $0).lastPathComponent },
    "pathExtension": { NSString(string: $0).pathExtension },
    "description": { $0 },
  ]

  private static let urls: [String: @Sendable (URL) -> Any?] = [
    "absoluteString": { $0.absoluteString },
    "scheme": { $0.scheme },
    "host": { $0.host },
    "port": { $0.port },
    "path": { $0.path },
    "query": { $0.query },
    "fragment": { $0.fragment },
    "lastPathComponent": { $0.lastPathComponent },
    "pathExtension": { $0.pathExtension },
    "isFileURL": { $0.isFileURL },
  ]

  private static let dates: [String: @Sendable (Date) -> Any?] = [
    "timeIntervalSinceReferenceDate": { $0.timeIntervalSinceReferenceDate },
    "timeIntervalSince1970": { $0.timeIntervalSince1970 },
    "timeIntervalSinceNow": { $0.timeIntervalSinceNow },
  ]

  private static let numbers: [String: @Sendable (NSNumber) -> Any?] = [
    "integerValue": { $0.intValue },
    "intValue": { $0.int32Value },
    "longLongValue": { $0.int64Value },
    "doubleValue": { $0.doubleValue },
    "floatValue": { $0.floatValue },
    "boolValue": { $0.boolValue },
    "stringValue": { $0.stringValue },
  ]
}
