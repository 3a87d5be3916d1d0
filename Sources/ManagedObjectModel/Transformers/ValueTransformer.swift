import Foundation

/// The name under which a transformer is registered.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.init(rawValue: rawValue) }

  public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
  public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName("NSKeyedUnarchiveFromData")
  public static let unarchiveFromDataTransformerName = NSValueTransformerName("NSUnarchiveFromData")
}

/// Turns values into others and, where it can, back. (Apple documentation: ValueTransformer.)
///
/// A transformable attribute names one. It then is called from every queue that uses such an attribute, possibly from
/// several at once, so it should have no state that changes.
open class ValueTransformer: NSObject {
  /// The class of what `transformedValue(_:)` gives.
  open class func transformedValueClass() -> AnyClass { NSObject.self }
  /// Whether `reverseTransformedValue(_:)` may be called.
  open class func allowsReverseTransformation() -> Bool { true }

  /// `value` transformed; itself unless a subclass does something.
  open func transformedValue(_ value: Any?) -> Any? { value }

  /// The value that `transformedValue(_:)` made `value` of. Where the class does not allow that, calling it is a
  /// programmer's error.
  open func reverseTransformedValue(_ value: Any?) -> Any? {
    precondition(
      Self.allowsReverseTransformation(),
      "\(type(of: self)) has no reverse transformation; override allowsReverseTransformation() and this method.")
    return transformedValue(value)
  }

  // MARK: Registration

  /// The transformer registered under `name`.
  public convenience init?(forName name: NSValueTransformerName) {
    guard let transformer = Self.registered(name.rawValue) else { return nil }
    self.init(made: transformer)
  }

  /// Registers `transformer`, or with nil forgets the one of that name.
  open class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
    registry[name.rawValue] = transformer
  }

  /// The names of all registered transformers, sorted.
  open class func valueTransformerNames() -> [NSValueTransformerName] {
    registry.names.sorted().map(NSValueTransformerName.init(rawValue:))
  }

  static func registered(_ name: String) -> ValueTransformer? { registry[name] }

  private static let registry = TransformerRegistry()
}

extension ValueTransformer: ClassFactory {}

/// Transformers by name.
// Unchecked: the table is touched under the lock only; what it holds is asked to bear use from several threads.
private final class TransformerRegistry: @unchecked Sendable {
  private let lock = NSLock()
  private var table: [String: ValueTransformer] = Dictionary(
    uniqueKeysWithValues: [
      NSValueTransformerName.secureUnarchiveFromDataTransformerName, .keyedUnarchiveFromDataTransformerName,
      .unarchiveFromDataTransformerName,
    ].map { ($0.rawValue, NSSecureUnarchiveFromDataTransformer()) })

  var names: [String] { lock.withLock { Array(table.keys) } }

  subscript(name: String) -> ValueTransformer? {
    get { lock.withLock { table[name] } }
    set { lock.withLock { table[name] = newValue } }
  }
}
