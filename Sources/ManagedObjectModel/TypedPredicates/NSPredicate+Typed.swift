import Foundation

/// Predicates and sort descriptors of Swift's macros and generics as those of Core Data. (Apple documentation: NSPredicate,
/// init(_:); NSSortDescriptor, init(_:).)
extension NSPredicate {
  /// The predicate that `#Predicate` makes, for fetches and for objects in memory; nil if a part of it has no form here.
  /// ``converted(_:)`` says which.
  ///
  /// ```swift
  /// let request = NSFetchRequest<JournalEntry>(entityName: "JournalEntry")
  /// request.predicate = NSPredicate(#Predicate<JournalEntry> { $0.location == "Rincon" })
  /// ```
  public convenience init?<Input: NSObject>(_ predicate: Predicate<Input>) {
    guard let node = try? TypedConversion.node(of: predicate) else { return nil }
    self.init(node: node)
  }

  /// As `init(_:)`.
  ///
  /// - Throws: `NSError` 134060 that names the part of the predicate that has no form here.
  public static func converted<Input: NSObject>(_ predicate: Predicate<Input>) throws -> NSPredicate {
    .made(of: try TypedConversion.node(of: predicate))
  }
}

extension NSSortDescriptor {
  /// Sorts as a `SortDescriptor` does. One with a comparator of texts other than `lexical` sorts objects in memory only; a
  /// fetch refuses it.
  public convenience init<Compared: NSObject>(_ sortDescriptor: SortDescriptor<Compared>) {
    let names = sortDescriptor.keyPath.flatMap { KeyPathNames.names(of: $0) }
    let key = names?.joined(separator: ".")
    let isAscending = sortDescriptor.order == .forward
    guard let comparator = sortDescriptor.stringComparator, comparator != .lexical else {
      self.init(key: key, ascending: isAscending)
      return
    }
    self.init(key: key, ascending: isAscending) { left, right in
      guard let left = left as? String, let right = right as? String else {
        return KeySortDescriptor.storeOrder(left, right)
      }
      // The descriptor itself reverses the order.
      return comparator.ascending.compare(left, right)
    }
  }
}

extension String.StandardComparator {
  fileprivate var ascending: Self {
    var comparator = self
    comparator.order = .forward
    return comparator
  }
}
