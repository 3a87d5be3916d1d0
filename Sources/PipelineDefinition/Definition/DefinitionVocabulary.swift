/// A program's additions to the language of pipeline files: names of its own, and defaults.
///
/// The program's own names appear in the output of its runs.
public struct DefinitionVocabulary: Sendable, Hashable {
  /// Dialects that a file may name in addition to `rfc4180`.
  public var dialects: [DialectDefinition]
  /// Patterns of dates by the names that a file may use in addition to ``DateFormat/names``.
  public var dateFormats: [String: String]
  /// The entity of a pipeline that names none.
  public var entity: String?
  /// The embedded model of a pipeline that names none and has no store yet.
  public var model: String?

  /// The program's name: in reports, in messages that name its commands, and as a prefix of the names of metrics.
  public var program: String
  /// The prefix of the names of the ledger's tables in a store: letters, digits and underscores.
  public var ledgerPrefix: String

  /// Creates a vocabulary; by default without additions.
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
  /// The key of the ``DefinitionVocabulary`` in a decoder's `userInfo`.
  public static let definitionVocabulary: CodingUserInfoKey = {
    guard let key = CodingUserInfoKey(rawValue: "definitionVocabulary") else {
      // The text is the one above.
      preconditionFailure("every text can be a key")
    }
    return key
  }()
}
