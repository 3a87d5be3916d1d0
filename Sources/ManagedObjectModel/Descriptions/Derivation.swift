/// The derivation of a derived attribute, which model sources and compiled models write differently: `pages.@count` in
/// sources is `count:(pages)` in compiled models. Version hashes are computed from the compiled form.
package enum Derivation: Equatable, Sendable {
  /// The time of the last save: `now()`.
  case now
  /// A value of the object itself or of another one, such as `author.name`.
  case path([String])
  /// A function of the values at a path, such as `canonical:(name)` or `count:(pages)`.
  case call(function: String, path: [String])

  /// The functions of one argument that derivations may call.
  private static let functions: Set<String> = ["canonical", "count", "lowercase", "sum", "uppercase"]

  /// Reads either form; nil for a text of another form.
  init?(_ text: String) {
    let compact = text.filter { !$0.isWhitespace }
    if compact == "now()" {
      self = .now
    } else if compact.hasSuffix(")"), let open = compact.firstRange(of: ":("),
      let path = Self.path(compact[open.upperBound...].dropLast())
    {
      let function = String(compact[..<open.lowerBound])
      guard Self.functions.contains(function) else { return nil }
      self = .call(function: function, path: path)
    } else if let at = compact.firstRange(of: ".@"), let path = Self.path(compact[..<at.lowerBound]) {
      let words = compact[at.upperBound...].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      switch (words[0], words.count) {
      case ("count", 1), ("sum", 1): self = .call(function: String(words[0]), path: path)
      case ("sum", 2):
        guard let summand = Self.path(words[1]) else { return nil }
        self = .call(function: "sum", path: path + summand)
      default: return nil
      }
    } else if let path = Self.path(compact[...]) {
      self = .path(path)
    } else {
      return nil
    }
  }

  private static func path(_ text: Substring) -> [String]? {
    let keys = text.split(separator: ".", omittingEmptySubsequences: false)
      .map { $0.hasPrefix("#") ? $0.dropFirst() : $0 }
    let areNames = keys.allSatisfy { key in
      key.first?.isNumber == false && key.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }
    return areNames ? keys.map { String($0) } : nil
  }

  /// The text in a compiled model.
  var compiledText: String {
    switch self {
    case .now: "now()"
    case .path(let keys): keys.joined(separator: ".")
    case .call(let function, let keys): "\(function):(\(keys.joined(separator: ".")))"
    }
  }
}

extension Derivation {
  /// The text of an expression, in the form of models: `canonical:(name)` where a predicate has `canonical(name)`.
  static func text(of tree: PredicateOperand) -> String {
    guard case .function(let function, let arguments) = tree, arguments.count == 1 else {
      return tree.formatDescription
    }
    let name = function.rawValue.prefix { $0 != ":" }
    let known = "\(name):(\(arguments[0].formatDescription))"
    return Derivation(known) == nil ? tree.formatDescription : known
  }
}

extension NSDerivedAttributeDescription {
  /// The derivation; nil if there is none, or none of a form that is known here.
  package var derivation: Derivation? { derivationExpressionFormat.flatMap(Derivation.init) }

  /// The derivation as compiled models write it; nil also for `items.@sum.price`, whose compiled form no model shows.
  var compiledDerivation: String? {
    derivationExpressionFormat?.contains("@sum.") == true ? nil : derivation?.compiledText
  }
}
