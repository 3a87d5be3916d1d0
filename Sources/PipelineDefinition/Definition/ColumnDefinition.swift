/// One column of the input and the attribute that it fills.
///
/// ```swift
/// var rating = ColumnDefinition("rating", rules: [ValueRule(.range(min: 1, max: 5))])
/// rating.synonyms = ["stars"]
/// ```
public struct ColumnDefinition: Sendable, Hashable, Codable {
  /// The label in the header; letter case and surrounding spaces are ignored.
  public var name: String
  /// Attribute of the entity; `name` by default. With a ``link`` one of a related entity, such as `spot.name`.
  public var attribute: String
  /// How the related object is found, if the attribute is one of a related entity.
  public var link: LinkDefinition?
  /// Labels whose fields together, joined by spaces, are the text of this column, instead of the field labelled
  /// `name`: a date and a time of the day. Empty for one field.
  public var from: [String]
  /// Other labels of this column.
  public var synonyms: [String]
  /// For dates: the formats, tried in order, see ``DateFormat``; `iso8601` by default. For bytes:
  /// `base64`, the default, or `hex`.
  public var formats: [String]
  /// Whether a file without this column is refused. (The rule `required` demands that its fields are not empty.)
  public var required: Bool
  /// Applied to each field's text, in order, before it is parsed and validated.
  public var transforms: [ValueTransform]
  /// The constant that fills the attribute of every record, regardless of the input.
  public var value: String?
  /// Checked in order; checking stops at the first error.
  public var rules: [ValueRule]

  /// Makes a column. The parameters are the properties of the same names; by default its attribute has its name.
  public init(
    _ name: String, attribute: String? = nil, from: [String] = [], synonyms: [String] = [], formats: [String] = [],
    required: Bool = false, transforms: [ValueTransform] = [], value: String? = nil, rules: [ValueRule] = [],
    link: LinkDefinition? = nil
  ) {
    self.name = name
    self.link = link
    self.attribute = attribute ?? name
    self.from = from
    self.synonyms = synonyms
    self.formats = formats
    self.required = required
    self.transforms = transforms
    self.value = value
    self.rules = rules
  }

  /// Whether a header without this column makes the file unusable.
  var isLabelRequired: Bool {
    if required { return true }
    let needsValue = rules.contains { $0.kind == .required && $0.severity == .error }
    return needsValue && value == nil && !transforms.contains(where: \.fillsEmpty)
  }
}

extension ColumnDefinition {
  /// The labels by which a header can name the column, each with its part of the text.
  package var labels: [(label: String, part: Int)] {
    from.isEmpty ? ([name] + synonyms).map { ($0, 0) } : from.enumerated().map { ($1, $0) }
  }

  static let keys = [
    "name", "attribute", "link", "from", "synonyms", "formats", "required", "transforms", "value", "rules",
  ]

  /// Reads an object, or a text that is only the name of a column.
  static func read(
    _ value: JSONValue, path: String, dateFormats: [String: String], mistakes: MistakeList
  ) -> ColumnDefinition? {
    if case .string(let name) = value, !name.isEmpty { return ColumnDefinition(name) }
    guard let reader = ObjectReader(value, path: path, keys: keys, mistakes: mistakes) else { return nil }
    guard let name = reader.string("name") else {
      if reader.value("name") == nil { reader.note("name", "is missing; give the column's label in the header") }
      return nil
    }
    let formats = reader.strings("formats") ?? []
    for (index, format) in formats.enumerated() where BinaryFormat(rawValue: format) == nil {
      do {
        _ = try DateFormat(format, named: dateFormats)
      } catch {
        mistakes.add("\(reader.path("formats"))[\(index)]", error.message)
      }
    }
    let column = ColumnDefinition(
      name,
      attribute: reader.string("attribute"),
      from: reader.strings("from") ?? [],
      synonyms: reader.strings("synonyms") ?? [],
      formats: formats,
      required: reader.bool("required") ?? false,
      transforms: (reader.items("transforms") ?? []).compactMap {
        ValueTransform.read($0.value, path: $0.path, mistakes: mistakes)
      },
      value: reader.string("value"),
      rules: (reader.items("rules") ?? []).compactMap { ValueRule.read($0.value, path: $0.path, mistakes: mistakes) },
      link: reader.value("link").flatMap {
        LinkDefinition.read(
          $0, attribute: reader.string("attribute") ?? name, path: reader.path("link"), mistakes: mistakes)
      })
    if column.value != nil { noteIdle(column, reader) }
    if !column.from.isEmpty, !column.synonyms.isEmpty {
      reader.note("synonyms", "has no effect together with 'from', which names the labels; remove one of the two")
    }
    return column
  }

  /// Reports keys that have no effect for a constant.
  private static func noteIdle(_ column: ColumnDefinition, _ reader: ObjectReader) {
    let text = "has no effect together with 'value', which replaces the input; remove one of the two"
    if !column.from.isEmpty { reader.note("from", text) }
    if !column.synonyms.isEmpty { reader.note("synonyms", text) }
    if column.required { reader.note("required", text) }
    if !column.transforms.isEmpty { reader.note("transforms", text) }
  }
}
