import ManagedObjectModel
import Foundation

/// Sets as large as an import, each element of which is known to be distinct.
extension Set where Element: NSObject {
  /// Capacity for twice `count` elements: comparing elements that collide costs more than the memory.
  @inlinable package init(unique count: Int) { self.init(minimumCapacity: count * 2) }

  /// Like `insert`, but without returning the member, which would cost a retain and a release.
  @inlinable @inline(__always)
  package mutating func add(_ element: Element) { update(with: element) }
}
