/// One column of the input and the attribute that it fills.
public struct ColumnDefinition: Sendable, Hashable, Codable {
  /// The label in the header, letter case and spaces around it aside.
  public var name: String
  /// Attribute of the entity; the same as `name` when left out.
  public var attribute: String
  /// Other labels that mean this column.
  public var synonyms: [String]
  /// For dates: the formats tried in order, see ``DateFormat``. `iso8601` when left out.
  public var formats: [String]
  /// Whether a file without this column is refused. (That its fields are not empty is the rule `required`.)
  public var required: Bool
  /// Checked in order; the first error decides.
  public var rules: [ValueRule]

  public init(
    _ name: String, attribute: String? = nil, synonyms: [String] = [], formats: [String] = [],
    required: Bool = false, rules: [ValueRule] = []
  ) {
    self.name = name
    self.attribute = attribute ?? name
    self.synonyms = synonyms
    self.formats = formats
    self.required = required
    self.rules = rules
  }

  /// Whether a header without this column makes the file unusable.
  var isLabelRequired: Bool {
    required || rules.contains { $0.kind == .required && $0.severity == .error }
  }
}

extension ColumnDefinition {
  static let keys = ["name", "attribute", "synonyms", "formats", "required", "rules"]

  /// An object, or a text that is the name of a column without further wishes.
  static func read(_ value: JSONValue, path: String, mistakes: MistakeList) -> ColumnDefinition? {
    if case .string(let name) = value, !name.isEmpty { return ColumnDefinition(name) }
    guard let reader = ObjectReader(value, path: path, keys: keys, mistakes: mistakes) else { return nil }
    guard let name = reader.string("name") else {
      if reader.value("name") == nil { reader.note("name", "is missing; give the column's label in the header") }
      return nil
    }
    let formats = reader.strings("formats") ?? []
    for (index, format) in formats.enumerated() {
      do {
        _ = try DateFormat(format)
      } catch {
        mistakes.add("\(reader.path("formats"))[\(index)]", error.message)
      }
    }
    return ColumnDefinition(
      name,
      attribute: reader.string("attribute"),
      synonyms: reader.strings("synonyms") ?? [],
      formats: formats,
      required: reader.bool("required") ?? false,
      rules: (reader.items("rules") ?? []).compactMap { ValueRule.read($0.value, path: $0.path, mistakes: mistakes) })
  }
}
