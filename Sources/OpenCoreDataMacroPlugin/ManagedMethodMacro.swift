import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The bodies of the methods that change a to-many relationship, which Xcode declares next to a class: `addToTags(_:)`,
/// `removeFromTags(at:)` and the like.
struct ManagedMethodMacro: BodyMacro {
  static func expansion(
    of node: AttributeSyntax,
    providingBodyFor declaration: some DeclSyntaxProtocol & WithOptionalCodeBlockSyntax,
    in context: some MacroExpansionContext
  ) throws -> [CodeBlockItemSyntax] {
    guard let function = declaration.as(FunctionDeclSyntax.self), function.body == nil else {
      throw MacroExpansionErrorMessage("@ManagedMethod makes the body of a method: leave it out.")
    }
    guard let call = RelationshipCall(function) else {
      throw MacroExpansionErrorMessage(
        "'\(function.name.text)' is not a method of a to-many relationship: these are addToTags(_:), removeFromTags(_:), "
          + "and of ordered ones insertIntoTags(_:at:), removeFromTags(at:) and replaceTags(at:with:).")
    }
    return ["\(raw: call.text)"]
  }
}

/// The call that such a method makes.
private struct RelationshipCall {
  let text: String

  /// Nil for another method.
  init?(_ function: FunctionDeclSyntax) {
    let parameters = function.signature.parameterClause.parameters.map(Parameter.init)
    let labels = parameters.map(\.label)
    func key(after prefix: String) -> String? {
      let name = function.name.text
      guard name.hasPrefix(prefix), let first = name.dropFirst(prefix.count).first else { return nil }
      return "forKey: \"\(first.lowercased())\(name.dropFirst(prefix.count + 1))\""
    }
    if labels == ["_"], let key = key(after: "addTo") {
      text = "addRelatedObjects(\(parameters[0].objects), \(key))"
    } else if labels == ["_"], let key = key(after: "removeFrom") {
      text = "removeRelatedObjects(\(parameters[0].objects), \(key))"
    } else if labels == ["_", "at"], let key = key(after: "insertInto") {
      text = "insertRelatedObjects(\(parameters[0].objects), at: \(parameters[1].positions), \(key))"
    } else if labels == ["at"], let key = key(after: "removeFrom") {
      text = "removeRelatedObjects(at: \(parameters[0].positions), \(key))"
    } else if labels == ["at", "with"], let key = key(after: "replace") {
      text = "replaceRelatedObjects(at: \(parameters[0].positions), with: \(parameters[1].objects), \(key))"
    } else {
      return nil
    }
  }

  private struct Parameter {
    let label: String
    private let name: String
    private let type: String

    init(_ parameter: FunctionParameterSyntax) {
      label = parameter.firstName.text
      name = (parameter.secondName ?? parameter.firstName).text
      type = parameter.type.trimmedDescription
    }

    /// The objects as a collection.
    var objects: String {
      let isCollection = ["NSSet", "NSOrderedSet", "Set<", "["].contains { type.hasPrefix($0) }
      return isCollection ? name : "[\(name)]"
    }

    var positions: String {
      switch type {
      case "Int": "[\(name)]"
      case "IndexSet": name
      default: "IndexSet(\(name))"
      }
    }
  }
}
