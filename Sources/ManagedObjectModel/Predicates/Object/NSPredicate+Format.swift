import Foundation

/// The initialisers that Foundation on this platform lacks (NSPredicate, "Creating a Predicate").
extension NSPredicate {
  /// Creates a predicate from its text. (Apple documentation: init(format:arguments:).)
  ///
  /// ```swift
  /// let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
  /// request.predicate = NSPredicate(format: "rating >= %d AND location CONTAINS[cd] %@", 4, "bells")
  /// let sessions = try context.fetch(request)
  /// ```
  ///
  /// Stops the program if the text is not a valid predicate, as Apple's implementation raises an exception. For text
  /// that a person typed, use `parse(format:arguments:)`.
  ///
  /// - Parameters:
  ///   - predicateFormat: The condition. `%@`, `%K`, `%d`, `%f` and similar conversions take the arguments in order.
  ///   - arguments: The values of the conversions.
  public convenience init(format predicateFormat: String, _ arguments: Any?...) {
    self.init(made: Self.made(of: Self.trustedNode(predicateFormat, arguments)))
  }

  /// Like `init(format:_:)`, with the arguments in an array.
  public convenience init(format predicateFormat: String, argumentArray arguments: [Any]?) {
    self.init(made: Self.made(of: Self.trustedNode(predicateFormat, arguments ?? [])))
  }

  /// Creates a predicate from a parsed tree.
  package convenience init(node: PredicateNode) {
    self.init(made: Self.made(of: node))
  }

  /// Creates a predicate from text that may be invalid.
  ///
  /// - Throws: NSError in NSCocoaErrorDomain with code 2048 (`CocoaError.formatting`). Its description says what was
  ///   expected at which character; its user info has that position as `NSPredicateFormatPosition`.
  public static func parse(format: String, arguments: [Any?] = []) throws -> NSPredicate {
    do {
      return made(of: try PredicateParser.parse(format, arguments: arguments))
    } catch let error as PredicateSyntaxError {
      throw error.nsError
    }
  }

  private static func trustedNode(_ format: String, _ arguments: [Any?]) -> PredicateNode {
    do {
      return try PredicateParser.parse(format, arguments: arguments)
    } catch {
      // Apple's initialiser can't throw; `parse(format:)`, for texts of users, does.
      preconditionFailure((error as? PredicateSyntaxError)?.message ?? "\(error)")
    }
  }

  /// A copy in which every `$NAME` with a value is replaced.
  public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
    let values = variables.mapValues { PredicateConstant(argument: $0) }
    guard let result = substituting(values) as? Self else { return self }
    return result
  }

  private func substituting(_ values: [String: PredicateConstant]) -> NSPredicate {
    switch self {
    case let parsed as any TreePredicate:
      .made(of: parsed.node.substituting(values))
    case let compound as NSCompoundPredicate where type(of: compound) == NSCompoundPredicate.self:
      NSCompoundPredicate(
        type: compound.compoundPredicateType,
        subpredicates: compound.subpredicates.map { $0.substituting(values) })
    default:
      self
    }
  }
}

extension NSPredicate {
  /// The tree of this predicate, including compound predicates.
  ///
  /// - Throws: NSError 134060 if it or a part of it was created from a block.
  package func predicateNode() throws -> PredicateNode {
    switch self {
    case let parsed as any TreePredicate:
      return parsed.node
    case let unusable as UnusablePredicate:
      throw unusable.problem
    case let compound as NSCompoundPredicate where type(of: compound) == NSCompoundPredicate.self:
      let nodes = try compound.subpredicates.map { try $0.predicateNode() }
      switch compound.compoundPredicateType {
      case .and: return .and(nodes)
      case .or: return .or(nodes)
      case .not:
        guard let node = nodes.first else { throw PredicateFailure.untranslatable(self) }
        return .not(node)
      }
    default:
      guard type(of: self) == NSPredicate.self, let value = constantValue else {
        throw PredicateFailure.untranslatable(self)
      }
      return .constant(value)
    }
  }

  /// The value of `NSPredicate(value:)`, which Foundation does not expose; nil for a block.
  private var constantValue: Bool? {
    [true, false].first { isEqual(NSPredicate(value: $0)) }
  }

  /// The text of the predicate, which `NSPredicate(format:)` reads again; `BLOCKPREDICATE` for a block.
  ///
  /// It is what `predicateFormat` gives on Apple's systems. Here, `predicateFormat` of a compound that was made of predicates
  /// is Foundation's, and always `FALSEPREDICATE`.
  ///
  /// ```swift
  /// let both = NSCompoundPredicate(andPredicateWithSubpredicates: [
  ///   NSPredicate(format: "rating >= 4"), NSPredicate(format: "location == 'Rincon'"),
  /// ])
  /// print(both.formatDescription)
  /// ```
  public var formatDescription: String {
    if let compound = self as? NSCompoundPredicate {
      return CompoundFormat(compound).text
    }
    return (try? predicateNode())?.formatDescription ?? "BLOCKPREDICATE"
  }
}

/// A compound that may contain blocks, which do not have a tree.
private struct CompoundFormat {
  let text: String

  init(_ compound: NSCompoundPredicate) {
    if let node = try? compound.predicateNode() {
      text = node.formatDescription
      return
    }
    let parts = compound.subpredicates.map { part in
      part is NSCompoundPredicate ? "(\(part.formatDescription))" : part.formatDescription
    }
    switch compound.compoundPredicateType {
    case .and: text = parts.joined(separator: " AND ")
    case .or: text = parts.joined(separator: " OR ")
    case .not: text = "NOT \(parts.joined())"
    }
  }
}
