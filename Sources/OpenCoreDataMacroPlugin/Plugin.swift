@_spi(PluginMessage) import SwiftCompilerPluginMessageHandling
import SwiftSyntaxMacros

/// The program that the compiler asks to expand macros. The toolchain has the libraries of SwiftSyntax, but not the module
/// with the entry point of such programs, SwiftCompilerPlugin.
@main
struct Plugin: PluginProvider {
  static func main() throws {
    try CompilerPluginMessageListener(connection: StandardIOMessageConnection(), provider: Plugin()).main()
  }

  func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
    switch typeName {
    case "ManagedMacro": return ManagedMacro.self
    case "ManagedMethodMacro": return ManagedMethodMacro.self
    default: throw MacroExpansionErrorMessage("The plugin has no macro '\(typeName)'.")
    }
  }

  func loadPluginLibrary(libraryPath: String, moduleName: String) throws {
    throw MacroExpansionErrorMessage("The plugin loads no libraries.")
  }

  var features: [PluginFeature] { [] }
}
