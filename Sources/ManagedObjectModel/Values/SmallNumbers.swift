import Foundation

/// Preallocated NSNumbers for frequent values such as ratings and counts. Sharing them is safe, as numbers are
/// immutable.
package enum SmallNumbers {
  private static let all = (0..<256).map { NSNumber(value: Int64($0)) }

  package static func number(_ value: Int64) -> NSNumber {
    value >= 0 && value < 256 ? all[Int(value)] : NSNumber(value: value)
  }
}
