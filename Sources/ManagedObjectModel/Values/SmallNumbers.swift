import Foundation

/// Numbers that most numbers are, such as ratings and counts, made once: a number never changes.
package enum SmallNumbers {
  private static let all = (0..<256).map { NSNumber(value: Int64($0)) }

  package static func number(_ value: Int64) -> NSNumber {
    value >= 0 && value < 256 ? all[Int(value)] : NSNumber(value: value)
  }
}
