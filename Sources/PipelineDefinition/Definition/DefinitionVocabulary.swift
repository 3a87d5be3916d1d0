/// What a program adds to the language of pipeline files: names of its own, and what counts where a file says nothing.
public struct DefinitionVocabulary: Sendable, Hashable {
  /// Dialects that a file may name besides `rfc4180`.
  public var dialects: [DialectDefinition]
  /// Patterns of dates by the names that a file may give them, besides ``DateFormat/names``.
  public var dateFormats: [String: String]
  /// The entity of a pipeline that names none.
  public var entity: String?
  /// The embedded model of a pipeline that names none and has no store yet.
  public var model: String?

  /// Without arguments nothing is added.
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
  /// The key under which a decoder has the ``DefinitionVocabulary`` of the definitions that it decodes.
  public static let definitionVocabulary: CodingUserInfoKey = {
    guard let key = CodingUserInfoKey(rawValue: "definitionVocabulary") else {
      preconditionFailure("every text can be a key")
    }
    return key
  }()
}
