import Foundation

/// The initialisers that the Foundation of this platform lacks (NSSortDescriptor, "Initializing a Sort
/// Descriptor").
extension NSSortDescriptor {
  /// Sorts by the property of this name, or key path with dots; a nil key sorts the objects themselves.
  public convenience init(key: String?, ascending: Bool) {
    self.init(made: KeySortDescriptor(name: key, ascending: ascending, custom: nil))
  }

  /// As `init(key:ascending:)`, comparing values by `comparator`, which is given NSNull for nil.
  ///
  /// Such a descriptor sorts objects in memory; a fetch from a store refuses it.
  public convenience init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
    self.init(made: KeySortDescriptor(name: key, ascending: ascending, custom: comparator))
  }

  /// Sorts by a Swift key path to a property whose type has no order of its own, an optional above all:
  /// values are compared as the store orders them, nil first.
  public convenience init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    self.init(
      keyPath: keyPath, ascending: ascending,
      comparator: { KeySortDescriptor.storeOrder($0, $1) })
  }

  /// The key, with dots if it is a path; nil if there is none or a Swift key path's name cannot be found.
  public var key: String? {
    if let descriptor = self as? KeySortDescriptor { return descriptor.name }
    return KeyPathNames.names(of: keyPath)?.joined(separator: ".")
  }
}

extension SortKey {
  /// The criterion of a fetch that a sort descriptor asks for.
  ///
  /// - Throws: NSError 134060 if there is no key, its name cannot be found, or values are compared by a
  ///   comparator of the caller's.
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
