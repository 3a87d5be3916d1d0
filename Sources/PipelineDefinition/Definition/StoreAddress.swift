import Foundation

/// Tells the address of a store on a server from the path of a file.
package enum StoreAddress {
  /// Whether a text is the address of a store on a PostgreSQL server, as libpq takes it.
  package static func isAddress(_ text: String) -> Bool {
    ["postgresql://", "postgres://"].contains { text.lowercased().hasPrefix($0) }
  }

  /// Whether a text looks like the address of a server in another form: it has a scheme anywhere, or begins with a keyword of
  /// libpq, such as `service=journal`. The path of a `.sqlite`, and one that begins with `./`, do not have keywords.
  package static func resemblesAddress(_ text: String) -> Bool {
    if isAddress(text) || text.hasPrefix("x-coredata://") { return false }
    let words = text.trimmingCharacters(in: .whitespaces)
    if words.contains("://") { return true }
    return words.prefixMatch(of: keywords) != nil && !words.lowercased().hasSuffix(".sqlite")
  }

  private static var keywords: Regex<(Substring, Substring)> {
    /(service|host|hostaddr|dbname|user|port|password|passfile|sslmode|connect_timeout)\s*=/.ignoresCase()
  }

  /// The form that an address has, for a text that resembles one.
  package static func form(for text: String) -> String {
    text.lowercased().hasPrefix("service") ? "postgresql://?service=NAME" : "postgresql://USER@HOST:PORT/DATABASE"
  }

  /// What is wrong with a text of a definition: it is an address where a file is expected, or a store that only resembles an
  /// address and would become a file. The message does not repeat the text, which may have a password.
  ///
  /// - Parameter path: The key path of the text.
  static func problem(of text: String, at path: String) -> String? {
    if path == "store" {
      guard resemblesAddress(text) else { return nil }
      return "looks like the address of a server; write it as \(form(for: text)), or a file's path with './' before it"
    }
    guard isAddress(text) else { return nil }
    let isFile = path == "extends" || PipelineDefinition.pathKeys.contains(DefinitionPath.pattern(path))
    return isFile ? "is the address of a server, and a file is expected; only 'store' can be on a server" : nil
  }
}
