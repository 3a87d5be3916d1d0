import Foundation

/// What computes a value that no store has SQL for: a client's block, a method that is called by its name, or a fetch.
// Unchecked: the block is called where the expression is evaluated, on the thread of its objects; nothing here changes.
package final class PredicateBlock: @unchecked Sendable, Hashable {
  /// What the evaluated object, the values of the arguments and those of the variables give.
  package typealias Body = (Any?, [Any], NSMutableDictionary?) throws -> Any?

  /// Where the value comes from.
  package enum Kind: Sendable, Hashable {
    /// Equal to itself only.
    case client
    /// `FUNCTION(target, "method:", …)`: the target is the first argument.
    case method(String)
    /// `FETCH(request, context, countOnly)`.
    case fetch
  }

  package let kind: Kind
  /// The method that is called; nil for other kinds.
  package var methodName: String? { if case .method(let name) = kind { name } else { nil } }
  package let body: Body

  package init(_ body: @escaping Body) {
    kind = .client
    self.body = body
  }

  /// A method of the first argument.
  package init(calling method: String) {
    kind = .method(method)
    body = { _, arguments, _ in
      try Self.call(method, of: arguments.first, arguments.dropFirst().map { $0 is NSNull ? nil : $0 })
    }
  }

  private init(_ kind: Kind, _ body: @escaping Body) {
    self.kind = kind
    self.body = body
  }

  /// Executes the first argument, a fetch request, in the second one, a context. The third one says whether only the
  /// number of objects is asked for.
  package static let fetch = PredicateBlock(.fetch) { _, arguments, _ in
    let method = (arguments[2] as? NSNumber)?.boolValue == true ? countMethod : fetchMethod
    return try call(method, of: arguments[1], [arguments[0]])
  }
  package static let fetchMethod = "executeFetchRequest:error:"
  package static let countMethod = "countForFetchRequest:error:"

  private static let coreDataError = 134060

  private static func call(_ method: String, of target: Any?, _ arguments: [Any?]) throws -> Any? {
    guard let target, !(target is NSNull) else { return nil }
    guard let callable = target as? any ExpressionCallable else {
      throw NSError(
        domain: NSCocoaErrorDomain, code: coreDataError,
        userInfo: [
          NSLocalizedDescriptionKey:
            "The method '\(method)' can't be called: \(type(of: target)) has no methods that expressions can call."
        ])
    }
    return try callable.value(ofMethod: method, arguments: arguments)
  }

  package static func == (left: PredicateBlock, right: PredicateBlock) -> Bool {
    left === right || left.kind != .client && left.kind == right.kind
  }

  package func hash(into hasher: inout Hasher) {
    if kind == .client { hasher.combine(ObjectIdentifier(self)) } else { hasher.combine(kind) }
  }
}

/// An argument of a format that stands for an expression.
package protocol PredicateExpressible {
  var predicateOperand: PredicateOperand { get }
}

/// An object whose methods expressions call by their names. There is no Objective-C runtime that could find them, so each
/// class says which ones it has.
package protocol ExpressionCallable {
  /// - Throws: An error that says which methods there are, for one that the class does not have.
  func value(ofMethod name: String, arguments: [Any?]) throws -> Any?
}
