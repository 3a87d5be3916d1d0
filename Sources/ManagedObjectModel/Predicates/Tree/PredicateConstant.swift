import Foundation

/// A value written in a predicate or passed to it as an argument.
package enum PredicateConstant: Sendable, Hashable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  case decimal(Decimal)
  case text(String)
  case date(Date)
  case uuid(UUID)
  case url(URL)
  case data(Data)
  case object(PredicateObject)
  case collection([PredicateConstant])
  /// An argument of a type that comparisons do not support, such as a fetch request. A comparison with it throws an error
  /// that names the type.
  case unsupported(PredicateForeignValue)
}

extension PredicateConstant {
  /// Any Swift or Foundation value as a constant; nil and NSNull are `null`, arrays and sets are collections.
  package init(argument: Any?) {
    guard let argument = Self.unwrapped(argument) else {
      self = .null
      return
    }
    if type(of: argument) is AnyObject.Type {
      self.init(object: argument)
    } else {
      self.init(value: argument)
    }
  }

  private init(value: Any) {
    switch value {
    case let value as Bool: self = .boolean(value)
    case let value as any BinaryInteger: self.init(integer: value)
    case let value as Double: self = .real(value)
    case let value as Float: self = .real(Double(value))
    case let value as CGFloat: self = .real(Double(value))
    case let value as Decimal: self = .decimal(value)
    case let value as String: self = .text(value)
    case let value as Substring: self = .text(String(value))
    case let value as Character: self = .text(String(value))
    case let value as Date: self = .date(value)
    case let value as UUID: self = .uuid(value)
    case let value as URL: self = .url(value)
    case let value as Data: self = .data(value)
    case is [AnyHashable: Any]: self = .unsupported(PredicateForeignValue(value))
    case let value as any Collection: self = .collection(Self.elements(of: value))
    default: self = .unsupported(PredicateForeignValue(value))
    }
  }

  private init(object: Any) {
    switch object {
    case is NSNull: self = .null
    case let object as any PredicateIdentifiable: self = .object(PredicateObject(object.predicateIdentity))
    case let object as any PredicateNamed: self = object.predicateName.map { .text($0) } ?? .null
    case let object as NSDecimalNumber: self = .decimal(object.decimalValue)
    case let object as NSNumber: self.init(number: object)
    case let object as NSString: self = .text(String(describing: object))
    case let object as NSDate:
      self = .date(Date(timeIntervalSinceReferenceDate: object.timeIntervalSinceReferenceDate))
    case let object as NSUUID: self = UUID(uuidString: object.uuidString).map { .uuid($0) } ?? .null
    case let object as NSURL: self = .url(object.absoluteURL ?? URL(fileURLWithPath: ""))
    case let object as NSData: self = .data(Data(referencing: object))
    case let object as NSArray: self = .collection(object.map { Self(argument: $0) })
    case let object as NSSet: self = .collection(object.allObjects.map { Self(argument: $0) })
    case let object as NSOrderedSet: self = .collection(object.array.map { Self(argument: $0) })
    default: self = .unsupported(PredicateForeignValue(object))
    }
  }

  private init(integer: some BinaryInteger) {
    if let value = Int64(exactly: integer) {
      self = .integer(value)
    } else {
      self = Decimal(string: integer.description).map { .decimal($0) } ?? .real(Double(integer))
    }
  }

  /// The encoding `c` of an NSNumber distinguishes a Boolean from a number.
  private init(number: NSNumber) {
    switch String(cString: number.objCType) {
    case "c": self = .boolean(number.boolValue)
    case "d", "f": self = .real(number.doubleValue)
    case "Q": self.init(integer: number.uint64Value)
    default: self = .integer(number.int64Value)
    }
  }

  private static func elements(of collection: some Collection) -> [PredicateConstant] {
    collection.map { PredicateConstant(argument: $0) }
  }

  /// The value with all optionals and hashable boxes removed.
  private static func unwrapped(_ argument: Any?) -> Any? {
    guard let argument else { return nil }
    if let optional = argument as? any AnyOptional { return unwrapped(optional.anyValue) }
    if type(of: argument) == AnyHashable.self, let box = argument as? AnyHashable { return box.base }
    return argument
  }
}

/// Unwraps an optional that is hidden in an `Any`.
private protocol AnyOptional {
  var anyValue: Any? { get }
}

extension Optional: AnyOptional {
  fileprivate var anyValue: Any? { self }
}

extension PredicateConstant {
  /// The value as Foundation has it: numbers as NSNumber, lists as arrays with NSNull for nil.
  package var foundationValue: Any? {
    switch self {
    case .null: nil
    case .unsupported(let foreign): foreign.value
    case .boolean(let value): NSNumber(value: value)
    case .integer(let value): NSNumber(value: value)
    case .real(let value): NSNumber(value: value)
    case .decimal(let value): NSDecimalNumber(decimal: value)
    case .text(let value): value
    case .date(let value): value
    case .uuid(let value): value
    case .url(let value): value
    case .data(let value): value
    case .object(let object): object.identity
    case .collection(let values): values.map { $0.foundationValue ?? NSNull() }
    }
  }
}
