import Foundation
import ManagedObjectModel

/// Lists of values as the text of an array, so that a statement's text does not depend on how many there are.
enum ArrayText {
  static func array(_ values: [StoredValue]) -> String {
    "{" + values.map(element).joined(separator: ",") + "}"
  }

  static func array(_ keys: some Sequence<Int64>) -> String { "{" + keys.map(String.init).joined(separator: ",") + "}" }

  private static func element(_ value: StoredValue) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let number): String(number)
    case .real(let number): number.isInfinite ? (number < 0 ? "-Infinity" : "Infinity") : "\(number)"
    case .decimal(let number): "\(number)"
    case .text(let text):
      "\"" + text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"") + "\""
    case .blob(let data):
      "\"\\\\x" + data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "\""
    }
  }
}
