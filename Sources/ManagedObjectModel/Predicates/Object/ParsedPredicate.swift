import Foundation

/// A predicate that has a tree.
protocol TreePredicate: NSPredicate {
  var node: PredicateNode { get }
}

extension PredicateNode {
  /// Whether the predicate holds for an object; stops the program where it can't be evaluated.
  func evaluate(with object: Any?, _ bindings: [String: Any]?) -> Bool {
    let values = bindings?.mapValues { PredicateConstant(argument: $0) } ?? [:]
    do {
      return try substituting(values).evaluated(on: object)
    } catch {
      // Apple's method can't throw; fetches use the tree, which does.
      preconditionFailure((error as NSError).localizedDescription)
    }
  }
}

extension NSPredicate {
  /// The predicate of a tree, of the class that Apple's parser returns for it.
  package static func made(of node: PredicateNode) -> NSPredicate {
    switch node {
    case .constant: ParsedPredicate(parsed: node)
    case .comparison(let comparison): NSComparisonPredicate(comparison)
    case .not(let inner): ParsedCompound(node, .not, of: [inner])
    case .and(let nodes): ParsedCompound(node, .and, of: nodes)
    case .or(let nodes): ParsedCompound(node, .or, of: nodes)
    }
  }

  /// The tree of a predicate that was made from a format or from expressions; nil for any other one.
  package var parsedNode: PredicateNode? { (self as? any TreePredicate)?.node }
}

extension NSPredicate {
  /// Does nothing: a predicate that was read from an archive passed through the parser, and can be evaluated. Foundation
  /// declares the method as unavailable on Linux. (Apple documentation: allowEvaluation().)
  public func allowEvaluation() {}
}

/// TRUEPREDICATE or FALSEPREDICATE.
final class ParsedPredicate: NSPredicate, TreePredicate, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }

  let node: PredicateNode

  init(parsed node: PredicateNode) {
    self.node = node
    super.init(value: false)
  }

  required init?(coder: NSCoder) {
    guard let node = TreeArchive(coder: coder)?.node, case .constant = node else { return nil }
    self.node = node
    super.init(value: false)
  }

  func encode(with coder: NSCoder) { coder.encode { try TreeArchive(node) } }

  override var predicateFormat: String { node.formatDescription }
  override var description: String { predicateFormat }

  override func copy(with zone: NSZone? = nil) -> Any { self }

  override func isEqual(_ object: Any?) -> Bool { (object as? NSPredicate)?.parsedNode == node }

  override var hash: Int { node.hashValue }

  override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    node.evaluate(with: object, bindings)
  }
}

/// AND, OR or NOT from a format.
final class ParsedCompound: NSCompoundPredicate, TreePredicate, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }

  let node: PredicateNode

  init(_ node: PredicateNode, _ type: NSCompoundPredicate.LogicalType, of parts: [PredicateNode]) {
    self.node = node
    super.init(type: type, subpredicates: parts.map(NSPredicate.made))
  }

  required init?(coder: NSCoder) {
    guard let node = TreeArchive(coder: coder)?.node, let (type, parts) = Self.parts(of: node) else { return nil }
    self.node = node
    super.init(type: type, subpredicates: parts.map(NSPredicate.made))
  }

  /// Nil for a node that is not a compound.
  private static func parts(of node: PredicateNode) -> (NSCompoundPredicate.LogicalType, [PredicateNode])? {
    switch node {
    case .not(let inner): (.not, [inner])
    case .and(let nodes): (.and, nodes)
    case .or(let nodes): (.or, nodes)
    case .constant, .comparison: nil
    }
  }

  func encode(with coder: NSCoder) { coder.encode { try TreeArchive(node) } }

  override var predicateFormat: String { node.formatDescription }
  override var description: String { predicateFormat }

  override func copy(with zone: NSZone? = nil) -> Any { self }

  override func isEqual(_ object: Any?) -> Bool { (object as? NSPredicate)?.parsedNode == node }

  override var hash: Int { node.hashValue }

  override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    node.evaluate(with: object, bindings)
  }
}
