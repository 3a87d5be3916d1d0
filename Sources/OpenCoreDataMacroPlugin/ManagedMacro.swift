import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The accessors of `@Managed`.
struct ManagedMacro: AccessorMacro {
  static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    let name = try propertyName(declaration)
    return [
      "get { managedValue(forKey: \(literal: name)) }",
      "set { setManagedValue(newValue, forKey: \(literal: name)) }",
    ]
  }

  /// - Throws: What is wrong with a declaration that can't be a property of a model.
  private static func propertyName(_ declaration: some DeclSyntaxProtocol) throws -> String {
    guard let variable = declaration.as(VariableDeclSyntax.self), variable.bindings.count == 1,
      let binding = variable.bindings.first, let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
    else {
      throw MacroExpansionErrorMessage("@Managed takes one property: write 'var' and its attribute for each.")
    }
    let name = pattern.identifier.text.filter { $0 != "`" }
    if variable.bindingSpecifier.tokenKind != .keyword(.var) {
      throw MacroExpansionErrorMessage("'\(name)' is a property of the model, which can change: write 'var'.")
    }
    if binding.initializer != nil {
      throw MacroExpansionErrorMessage("'\(name)' has its initial value in the model: leave the value out here.")
    }
    if binding.accessorBlock != nil {
      throw MacroExpansionErrorMessage("@Managed makes the accessors of '\(name)': leave them out.")
    }
    if binding.typeAnnotation == nil {
      throw MacroExpansionErrorMessage("Write the type of '\(name)', such as 'var \(name): String?'.")
    }
    return name
  }
}
