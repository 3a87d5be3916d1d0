import Foundation

/// The class behind `NSSortDescriptor(key:ascending:)`: it reads managed objects and dictionaries by name.
final class KeySortDescriptor: NSSortDescriptor {
  let name: String?
  /// The caller's comparator; nil for the order of the store.
  let custom: Comparator?

  init(name: String?, ascending: Bool, custom: Comparator?) {
    self.name = name
    self.custom = custom
    super.init(
      keyPath: \Any?.self, ascending: ascending, comparator: custom ?? KeySortDescriptor.storeOrder)
  }

  override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
    do {
      let result = comparator(try value(of: object1), try value(of: object2))
      return ascending ? result : result.reversed
    } catch {
      // Apple's method can't throw; fetches and sorts of this library use `value(of:)`, which does.
      preconditionFailure((error as NSError).localizedDescription)
    }
  }

  /// The object itself for a descriptor without a key; NSNull for nil.
  private func value(of object: Any) throws -> Any {
    guard let name else { return object }
    return try SubjectValue.of(object, keyPath: name.sortComponents[...]) ?? NSNull()
  }

  override var reversedSortDescriptor: Any {
    KeySortDescriptor(name: name, ascending: !ascending, custom: custom)
  }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? KeySortDescriptor else { return false }
    return other === self
      || (other.name == name && other.ascending == ascending && other.custom == nil && custom == nil)
  }

  override var hash: Int {
    var hasher = Hasher()
    hasher.combine(name)
    hasher.combine(ascending)
    return hasher.finalize()
  }

  /// The order in which SQLite sorts the stored forms of two values; null comes first.
  static func storeOrder(_ left: Any, _ right: Any) -> ComparisonResult {
    let order = StoredValueOrder.compare(stored(left), stored(right))
    return order < 0 ? .orderedAscending : order > 0 ? .orderedDescending : .orderedSame
  }

  private static func stored(_ value: Any) -> StoredValue {
    let constant = PredicateConstant(argument: value)
    return constant.valueType.flatMap { constant.stored(as: $0) } ?? .null
  }
}

extension ComparisonResult {
  fileprivate var reversed: ComparisonResult {
    switch self {
    case .orderedAscending: .orderedDescending
    case .orderedDescending: .orderedAscending
    case .orderedSame: .orderedSame
    }
  }
}

extension String {
  /// The components of a dotted key.
  var sortComponents: [String] {
    split(separator: ".").map(String.init)
  }
}
