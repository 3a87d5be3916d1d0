import Foundation

/// A text that no report, event log or message shows, such as an address with a token: given as it is, where a variable
/// of the environment can supply it, or kept in a file.
///
/// ```swift
/// let token = SecretText.file("secrets/token")
/// print(token)  // •••
/// ```
public enum SecretText: Sendable, Hashable {
  /// The text itself.
  case text(String)
  /// The path of a file with the text, which is read when the text is needed. Relative paths start at the definition's
  /// folder.
  case file(String)

  /// Reads a text, or an object with the path of a file.
  static func read(_ key: String, _ reader: ObjectReader) -> SecretText? {
    guard let value = reader.value(key) else { return nil }
    if case .string(let text) = value {
      if text.isEmpty { reader.note(key, "is empty; give a text, or {\"file\": PATH} for one that a file has") }
      return text.isEmpty ? nil : .text(text)
    }
    guard case .object = value else {
      reader.note(key, "expected a text in quotes or {\"file\": PATH}, found \(value.kind)")
      return nil
    }
    let inner = ObjectReader(value, path: reader.path(key), keys: ["file"], mistakes: reader.mistakes)
    if let inner, inner.value("file") == nil { inner.note("file", "is missing; name the file that has the text") }
    return inner?.string("file").map(SecretText.file)
  }
}

extension SecretText: Codable {
  private enum CodingKeys: String, CodingKey { case file }

  /// Decodes a text, or an object with the path of a file.
  public init(from decoder: any Decoder) throws {
    if let text = try? decoder.singleValueContainer().decode(String.self) {
      self = .text(text)
    } else {
      self = .file(try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .file))
    }
  }

  /// Encodes it as a definition's file has it.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .text(let text):
      var container = encoder.singleValueContainer()
      try container.encode(text)
    case .file(let path):
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(path, forKey: .file)
    }
  }
}

extension SecretText: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Three dots, or the path of the file.
  public var description: String {
    switch self {
    case .text: "•••"
    case .file(let path): "the text in \(path)"
    }
  }
  /// As `description`.
  public var debugDescription: String { description }
  /// Without the text.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
