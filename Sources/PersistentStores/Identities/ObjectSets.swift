import ManagedObjectModel
import Foundation

/// Sets of as many objects as an import has, each of which is another one than all before.
extension Set where Element: NSObject {
  /// Room for `count` elements, and as much again: comparing elements that fall into one place costs more than the room.
  package init(unique count: Int) { self.init(minimumCapacity: count * 2) }

  /// As `insert`, which hands back the element that is in the set now, to be counted up and down for nothing.
  @inline(__always)
  package mutating func add(_ element: Element) { update(with: element) }
}
