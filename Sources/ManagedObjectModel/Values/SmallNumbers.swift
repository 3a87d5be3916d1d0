import Foundation

/// Preallocated NSNumbers for frequent values such as ratings, minutes and counts. Sharing them is safe, as numbers are
/// immutable.
package enum SmallNumbers {
  private static let all = (0..<count).map { NSNumber(value: $0) }
  /// Making one takes some 560 instructions; they are all made when the first is asked for.
  private static let count: Int64 = 1024

  package static func number(_ value: Int64) -> NSNumber {
    value >= 0 && value < count ? all[Int(value)] : NSNumber(value: value)
  }
}
