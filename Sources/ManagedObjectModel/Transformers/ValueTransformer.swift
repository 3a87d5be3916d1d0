import Foundation

/// The name under which a transformer is registered.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.init(rawValue: rawValue) }

  /// The transformer of keyed archives that reads permitted classes only.
  public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
  /// Apple's name of the transformer of keyed archives that reads any class.
  public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName("NSKeyedUnarchiveFromData")
  /// Apple's name of the transformer of archives of the old kind.
  public static let unarchiveFromDataTransformerName = NSValueTransformerName("NSUnarchiveFromData")
}

/// Converts values and, if possible, converts them back. (Apple documentation: ValueTransformer.)
///
/// A transformable attribute names a transformer. Every queue that uses such an attribute calls it, possibly several at
/// once, so it should not have mutable state.
open class ValueTransformer: NSObject {
  /// The class of the values that `transformedValue(_:)` returns.
  open class func transformedValueClass() -> AnyClass { NSObject.self }
  /// Whether `reverseTransformedValue(_:)` may be called.
  open class func allowsReverseTransformation() -> Bool { true }

  /// The transformed value; `value` itself unless a subclass overrides this.
  open func transformedValue(_ value: Any?) -> Any? { value }

  /// The value that `transformedValue(_:)` made `value` from. If the class does not allow reverse transformation,
  /// calling it is a programming error.
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

  /// Registers `transformer`; nil removes the transformer with that name.
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
// Unchecked: `lock` guards the table; the transformers in it must be usable from several threads.
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
