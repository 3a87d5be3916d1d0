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
}

extension PipelineDefinition {
  /// Mistakes for addresses of servers where a file is expected, and for a store that only resembles an address and would
  /// become a file. They do not repeat the text, which may have a password.
  func checkAddresses(_ mistakes: MistakeList) {
    if let store, StoreAddress.resemblesAddress(store) {
      let form = StoreAddress.form(for: store)
      mistakes.add(
        "store", "looks like the address of a server; write it as \(form), or a file's path with './' before it")
    }
    var files = [("rejects", rejects), ("export.output", export?.output), ("inbox", inbox?.folder), ("model", model)]
    files.append((mistakes.contains("log.file") ? "log.file" : "log", log?.file))
    for (key, texts) in [("source", source), ("report", report)] {
      files += texts.enumerated().map { index, text in
        (mistakes.contains("\(key)[\(index)]") ? "\(key)[\(index)]" : key, text)
      }
    }
    for case (let path, let text?) in files where StoreAddress.isAddress(text) {
      mistakes.add(path, "is the address of a server, and a file is expected; only 'store' can be on a server")
    }
  }
}
