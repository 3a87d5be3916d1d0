import Foundation

/// The accessors of the macro `@Managed`, for properties of any type.
extension NSManagedObject {
  /// The value of a property as the type that the class declares.
  ///
  /// An optional is nil where nothing is stored. A number, a Boolean, a text or a collection that is not optional is then
  /// 0, false or empty; another type stops the program, and so does a value of another type.
  public final func managedValue<Value>(forKey key: String) -> Value {
    let stored = value(forKey: key)
    if let value = ManagedValue<Value>.value(of: stored) { return value }
    preconditionFailure(
      "\(type(of: self)).\(key) is declared as \(Value.self), and its value is \(stored.map { "\($0)" } ?? "nil"). "
        + "Declare it as the model does, or as an optional.")
  }

  /// Sets a property of the type that the class declares, with the notifications that `setValue(_:forKey:)` sends.
  public final func setManagedValue<Value>(_ value: Value, forKey key: String) {
    setValue(ManagedValue<Value>.object(of: value), forKey: key)
  }
}

/// Values of a declared type from and to those of keyed access.
private enum ManagedValue<Value> {
  /// Nil if `stored` is not of the type.
  static func value(of stored: Any?) -> Value? {
    if let optional = Value.self as? any AnyOptional.Type { return optional.wrapping(stored) as? Value }
    guard let stored else { return empty }
    if let value = stored as? Value { return value }
    return (Value.self as? any RawRepresentable.Type).flatMap { make($0, from: stored) as? Value }
  }

  /// What stands for nil in a type that is not optional; nil if nothing does.
  private static var empty: Value? {
    let candidates: [Any] = [NSNumber(value: 0), "", Data(), NSSet(), NSOrderedSet(), NSArray(), NSDictionary()]
    if let plain = candidates.lazy.compactMap({ $0 as? Value }).first { return plain }
    return (Value.self as? any RawRepresentable.Type).flatMap { type in
      candidates.lazy.compactMap { make(type, from: $0) as? Value }.first
    }
  }

  private static func make<Raw: RawRepresentable>(_ type: Raw.Type, from stored: Any) -> Raw? {
    (stored as? Raw.RawValue).flatMap(Raw.init(rawValue:))
  }

  /// What keyed access takes.
  static func object(of value: Value) -> Any? {
    let some: Any? =
      if let optional = Value.self as? any AnyOptional.Type { optional.wrapped(in: value) } else { value }
    return (some as? any RawRepresentable).map { $0.rawValue } ?? some
  }
}

/// An optional of any type.
private protocol AnyOptional {
  /// The optional of a value of keyed access; nil if this is not of the wrapped type.
  static func wrapping(_ stored: Any?) -> Any?
  static func wrapped(in optional: Any) -> Any?
}

extension Optional: AnyOptional {
  fileprivate static func wrapping(_ stored: Any?) -> Any? {
    guard let stored else { return Self.none as Any }
    return ManagedValue<Wrapped>.value(of: stored).map { Self.some($0) as Any }
  }

  fileprivate static func wrapped(in optional: Any) -> Any? {
    guard let optional = optional as? Self, let value = optional else { return nil }
    return value
  }
}
