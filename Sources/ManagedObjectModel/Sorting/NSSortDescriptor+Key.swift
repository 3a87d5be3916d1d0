import Foundation

/// The initialisers that Foundation on this platform lacks (NSSortDescriptor, "Initializing a Sort Descriptor").
extension NSSortDescriptor {
  /// Sorts by the property with this name, or by a dotted key path; a nil key sorts the objects themselves.
  ///
  /// ```swift
  /// let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
  /// request.sortDescriptors = [
  ///   NSSortDescriptor(key: "rating", ascending: false), NSSortDescriptor(key: "location", ascending: true),
  /// ]
  /// let sessions = try context.fetch(request)
  /// ```
  ///
  /// - Parameters:
  ///   - key: The name of a property, or names joined with dots; nil for the objects themselves.
  ///   - ascending: Whether the least value comes first. nil is less than every value.
  public convenience init(key: String?, ascending: Bool) {
    self.init(made: KeySortDescriptor(name: key, ascending: ascending, custom: nil))
  }

  /// Like `init(key:ascending:)`, but compares values with `comparator`, which receives NSNull for nil.
  ///
  /// Such a descriptor sorts objects in memory only; a fetch from a store rejects it.
  public convenience init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
    self.init(made: KeySortDescriptor(name: key, ascending: ascending, custom: comparator))
  }

  /// Sorts by a Swift key path to a property whose type is not Comparable, in particular an optional. Values have the
  /// order of the store, nil first.
  public convenience init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    self.init(
      keyPath: keyPath, ascending: ascending,
      comparator: { KeySortDescriptor.storeOrder($0, $1) })
  }

  /// The key, with dots if it is a path; nil if there is none or the name of a Swift key path cannot be found.
  public var key: String? {
    if let descriptor = self as? KeySortDescriptor { return descriptor.name }
    return KeyPathNames.names(of: keyPath)?.joined(separator: ".")
  }
}

extension SortKey {
  /// The sort criterion of a fetch that corresponds to a sort descriptor.
  ///
  /// - Throws: NSError 134060 if there is no key, its name cannot be found, or the caller supplied a comparator.
  package init(_ sortDescriptor: NSSortDescriptor) throws {
    guard let descriptor = sortDescriptor as? KeySortDescriptor else {
      guard let names = KeyPathNames.names(of: sortDescriptor.keyPath) else {
        throw PredicateFailure.unreadableKeyPath(sortDescriptor.keyPath.debugDescription)
      }
      self.init(keyPath: names, ascending: sortDescriptor.ascending)
      return
    }
    guard let name = descriptor.name, !name.isEmpty else { throw PredicateFailure.noSortKey() }
    guard descriptor.custom == nil else { throw PredicateFailure.comparator(key: name) }
    self.init(keyPath: name.sortComponents, ascending: descriptor.ascending)
  }
}
