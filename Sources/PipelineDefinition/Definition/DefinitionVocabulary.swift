/// A program's additions to the language of pipeline files: names of its own, and defaults.
public struct DefinitionVocabulary: Sendable, Hashable {
  /// Dialects that a file may name in addition to `rfc4180`.
  public var dialects: [DialectDefinition]
  /// Patterns of dates by the names that a file may use in addition to ``DateFormat/names``.
  public var dateFormats: [String: String]
  /// The entity of a pipeline that names none.
  public var entity: String?
  /// The embedded model of a pipeline that names none and has no store yet.
  public var model: String?

  /// Creates a vocabulary; empty by default.
  public init(
    dialects: [DialectDefinition] = [], dateFormats: [String: String] = [:], entity: String? = nil,
    model: String? = nil
  ) {
    self.dialects = dialects
    self.dateFormats = dateFormats
    self.entity = entity
    self.model = model
  }

  /// Every dialect that has a name.
  public var namedDialects: [DialectDefinition] { [.rfc4180] + dialects }
}

extension CodingUserInfoKey {
  /// The key of the ``DefinitionVocabulary`` in a decoder's `userInfo`.
  public static let definitionVocabulary: CodingUserInfoKey = {
    guard let key = CodingUserInfoKey(rawValue: "definitionVocabulary") else {
      preconditionFailure("every text can be a key")
    }
    return key
  }()
}
