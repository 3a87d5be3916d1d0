/// What a program adds to the language of pipeline files: names of its own, and what counts where a file says nothing.
///
/// The names of the program itself stand in what its runs write.
public struct DefinitionVocabulary: Sendable, Hashable {
  /// Dialects that a file may name besides `rfc4180`.
  public var dialects: [DialectDefinition]
  /// Patterns of dates by the names that a file may give them, besides ``DateFormat/names``.
  public var dateFormats: [String: String]
  /// The entity of a pipeline that names none.
  public var entity: String?
  /// The embedded model of a pipeline that names none and has no store yet.
  public var model: String?

  /// What the program is called: in reports, in messages that name its commands, and before the names of metrics.
  public var program: String
  /// What the names of the ledger's tables in a store begin with: letters, digits and underscores.
  public var ledgerPrefix: String

  /// Without arguments nothing is added.
  public init(
    dialects: [DialectDefinition] = [], dateFormats: [String: String] = [:], entity: String? = nil,
    model: String? = nil, program: String = "pipeline", ledgerPrefix: String = "PIPELINE_"
  ) {
    self.dialects = dialects
    self.dateFormats = dateFormats
    self.entity = entity
    self.model = model
    self.program = program
    self.ledgerPrefix = ledgerPrefix
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
