import Foundation
import SystemSupport

/// Reads secret texts when they are needed, and takes them out of what other programs say.
struct RevealedSecrets {
  private let definition: PipelineDefinition
  private var known: [String] = []

  private static let bytesMax = 64 << 10
  /// Shorter ones occur in ordinary words.
  private static let hiddenMin = 4
  /// Shorter parts of secrets do.
  private static let hiddenPartMin = 8

  init(of definition: PipelineDefinition) { self.definition = definition }

  /// The text of a secret; one from a file without the line break at its end.
  mutating func text(of secret: SecretText) throws(Undelivered) -> String {
    let text: String
    switch secret {
    case .text(let given): text = given
    case .file(let path): text = try read(definition.path(path))
    }
    known.append(text)
    known += Self.parts(of: text)
    return text
  }

  /// What others may show of a secret: a word of it, such as the token without `Bearer`, and of an address what follows
  /// its scheme or its host, and the password.
  private static func parts(of text: String) -> [String] {
    var parts = text.split(whereSeparator: \.isWhitespace)
    var passwords: [Substring] = []
    if let scheme = text.range(of: "://") {
      let address = text[scheme.upperBound...]
      parts.append(address)
      let host = address.prefix { !"/?#".contains($0) }
      if let at = host.lastIndex(of: "@"), let colon = host[..<at].firstIndex(of: ":") {
        passwords.append(host[host.index(after: colon)..<at])
      }
      let target = address[host.endIndex...]
      parts += [target, target.dropFirst(), target.prefix { $0 != "?" }.dropFirst()]
      parts += target.split { "/?&=#".contains($0) }
    }
    return (parts.filter { $0.count >= hiddenPartMin } + passwords).map(String.init)
  }

  private func read(_ path: String) throws(Undelivered) -> String {
    let bytes: [UInt8]
    do throws(RegularFileError) {
      bytes = try RegularFile.read(path, bytesMax: Self.bytesMax + 1)
    } catch {
      throw Undelivered("\(path) can't be read: \(error.reason)")
    }
    if bytes.count > Self.bytesMax { throw Undelivered("\(path) is too long for the text of a secret; check the path") }
    let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    if text.isEmpty { throw Undelivered("\(path) is empty; write the text into it") }
    return text
  }

  /// The text with dots for each secret that is known.
  func hidden(in text: String) -> String {
    known.filter { $0.count >= Self.hiddenMin }.sorted { $0.count > $1.count }
      .reduce(text) { $0.replacingOccurrences(of: $1, with: "•••") }
  }
}
