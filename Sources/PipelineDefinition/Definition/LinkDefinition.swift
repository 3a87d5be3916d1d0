/// How a column's values find the related objects that records lead to.
///
/// A column whose attribute is that of a related entity, such as `spot.name`, needs one; other columns of the same
/// relationship, such as `spot.country`, share it.
///
/// ```swift
/// var spot = ColumnDefinition("spot", attribute: "spot.name")
/// spot.link = LinkDefinition(by: ["name"], ifMissing: .create)
/// ```
public struct LinkDefinition: Sendable, Hashable, Codable {
  /// The treatment of a record that names an object which the store does not have.
  public enum MissingPolicy: String, Sendable, Codable, CaseIterable {
    /// Create it, with the values of all columns of the relationship.
    case create
    /// Reject the record.
    case reject
    /// Import the record without it. An entry that the record updates keeps its link.
    case leave
  }

  /// The treatment of a record that has another value for an attribute of the object than the object has.
  public enum DifferencePolicy: String, Sendable, Codable, CaseIterable {
    /// Reject the record.
    case reject
    /// Link to the object, which keeps its value.
    case keep
    /// Link to the object, and give it the record's value. Where records differ, the last one decides.
    case update
  }

  /// The treatment of a record that has values for some of the attributes in ``by`` only.
  public enum IncompletePolicy: String, Sendable, Codable, CaseIterable {
    /// Reject the record.
    case reject
    /// Look for an object without the other values.
    case match
  }

  /// Attributes of the related entity that together identify an object; each has a column.
  public var by: [String]
  /// The treatment of a record that names an object which the store does not have.
  public var ifMissing: MissingPolicy
  /// The treatment of a record that has other values than the object.
  public var ifDifferent: DifferencePolicy
  /// The treatment of a record that has only some of the values in ``by``.
  public var ifIncomplete: IncompletePolicy
  /// The text between the values of a to-many relationship; nil for a to-one relationship.
  public var separator: String?
  /// The separator where none can be given.
  package static let usualSeparator = ";"

  /// Makes a link. The parameters are the properties of the same names.
  public init(
    by: [String], ifMissing: MissingPolicy = .reject, ifDifferent: DifferencePolicy = .reject,
    ifIncomplete: IncompletePolicy = .reject, separator: String? = nil
  ) {
    self.by = by
    self.ifMissing = ifMissing
    self.ifDifferent = ifDifferent
    self.ifIncomplete = ifIncomplete
    self.separator = separator
  }

  static func read(
    _ value: JSONValue, attribute: String, path: String, mistakes: MistakeList
  ) -> LinkDefinition? {
    let keys = ["by", "ifMissing", "ifDifferent", "ifIncomplete", "separator"]
    guard let reader = ObjectReader(value, path: path, keys: keys, mistakes: mistakes) else { return nil }
    let end = attribute.split(separator: ".").last.map(String.init) ?? attribute
    return LinkDefinition(
      by: reader.strings("by") ?? [end], ifMissing: reader.choice("ifMissing", MissingPolicy.self) ?? .reject,
      ifDifferent: reader.choice("ifDifferent", DifferencePolicy.self) ?? .reject,
      ifIncomplete: reader.choice("ifIncomplete", IncompletePolicy.self) ?? .reject,
      separator: reader.string("separator"))
  }
}

extension ColumnDefinition {
  /// The relationship and the attribute of the related entity that the column fills; nil for an attribute of the
  /// entity itself.
  package var relatedAttribute: (relationship: String, name: String)? {
    guard let dot = attribute.firstIndex(of: ".") else { return nil }
    return (String(attribute[..<dot]), String(attribute[attribute.index(after: dot)...]))
  }
}

/// The columns of one relationship.
package struct LinkedColumns: Sendable {
  package let relationship: String
  package let link: LinkDefinition
  /// Indices of the columns, with the attributes of the related entity that they fill.
  package let columns: [(index: Int, attribute: String)]
}

extension PipelineDefinition {
  /// The relationships that columns lead over, in the order of the columns.
  package var linkedColumns: [LinkedColumns] {
    linkGroups.compactMap { group in
      group.columns.lazy.compactMap { columns[$0.index].link }.first.map {
        LinkedColumns(relationship: group.relationship, link: $0, columns: group.columns)
      }
    }
  }

  private typealias LinkGroup = (relationship: String, columns: [(index: Int, attribute: String)])

  private var linkGroups: [LinkGroup] {
    var groups: [LinkGroup] = []
    for (index, column) in columns.enumerated() {
      guard let (relationship, name) = column.relatedAttribute else { continue }
      let known = groups.firstIndex { $0.relationship == relationship } ?? groups.count
      if known == groups.count { groups.append((relationship, [])) }
      groups[known].columns.append((index, name))
    }
    return groups
  }

  /// Stands for an attribute in a column: the name of a record itself in the files of a run, by which others lead to it. It
  /// is not stored.
  package static let recordName = "@record"

  /// Checks the links of columns, and what can't name a linked column.
  func checkLinks(_ mistakes: MistakeList) {
    for (index, column) in columns.enumerated() where column.link != nil && column.relatedAttribute == nil {
      mistakes.add(
        "\(columnPath(index)).link",
        "'\(column.attribute)' is an attribute of the entity itself; name one of a related entity as the attribute, "
          + "such as spot.name, or remove the link")
    }
    for group in linkGroups { check(group, mistakes) }
    checkUsesOfLinked(mistakes)
  }

  private func check(_ group: LinkGroup, _ mistakes: MistakeList) {
    let linked = group.columns.filter { columns[$0.index].link != nil }
    let malformed = group.columns.filter { $0.attribute.isEmpty || $0.attribute.contains(".") }
    for (index, _) in malformed {
      mistakes.add(
        columnPath(index),
        "'\(columns[index].attribute)' is not a relationship and an attribute behind it, such as spot.name; columns "
          + "lead over one relationship")
    }
    if !malformed.isEmpty { return }
    guard let first = linked.first, let link = columns[first.index].link else {
      let (index, attribute) = group.columns[0]
      return mistakes.add(
        columnPath(index),
        "'\(columns[index].attribute)' belongs to a related object, and nothing defines how it is found; add "
          + "\"link\": {\"by\": \"\(attribute)\", \"ifMissing\": \"create\"}, or \"reject\" or \"leave\"")
    }
    let path = "\(columnPath(first.index)).link"
    for other in linked.dropFirst() where columns[other.index].link != link {
      mistakes.add(
        "\(columnPath(other.index)).link",
        "'\(columns[first.index].name)' defines another way to find the object of '\(group.relationship)'; define "
          + "it once")
    }
    for (position, name) in link.by.enumerated() {
      let known = group.columns.map(\.attribute)
      if !known.contains(name) {
        mistakes.add(
          "\(path).by",
          "no column fills '\(group.relationship).\(name)'; add one, or name what a column fills"
            + NearestName.hint(for: name, in: known))
      }
      if link.by.prefix(position).contains(name) { mistakes.add("\(path).by", "'\(name)' is listed twice; remove one") }
    }
    if link.separator != nil, group.columns.count > 1 {
      mistakes.add(
        "\(path).separator",
        "several objects come from one column, and '\(group.relationship)' has \(group.columns.count); keep the one "
          + "that names them")
    }
    if link.separator?.contains(where: { $0.isWhitespace && $0 != "\t" && $0 != " " }) == true {
      mistakes.add("\(path).separator", "can't be a line break; give a text such as \";\"")
    }
    for (index, _) in group.columns {
      if let rule = columns[index].rules.firstIndex(where: { $0.kind == .unique }) {
        mistakes.add(
          "\(columnPath(index)).rules[\(rule)]",
          "many records may lead to one object, so '\(columns[index].name)' can't be unique; remove the rule")
      }
    }
  }

  /// Keys, charts, expectations and rules for records are about the entity's own attributes.
  private func checkUsesOfLinked(_ mistakes: MistakeList) {
    let linked = Set(columns.filter { $0.relatedAttribute != nil }.flatMap { [$0.name, $0.attribute] })
      .subtracting(columns.filter { $0.relatedAttribute == nil }.flatMap { [$0.name, $0.attribute] })
    if linked.isEmpty { return }
    func refuse(_ name: String, at path: String, because subject: String) {
      guard linked.contains(name) else { return }
      mistakes.add(
        path, "'\(name)' belongs to a related object, and \(subject) attributes of the entity itself; name one of these"
      )
    }
    for (index, name) in key.enumerated() { refuse(name, at: "key[\(index)]", because: "a key has") }
    for (index, name) in (charts ?? []).enumerated() { refuse(name, at: "charts[\(index)]", because: "charts show") }
    for (index, rule) in (expect?.columns ?? []).enumerated() {
      refuse(rule.name, at: "expect.columns[\(index)]", because: "expectations are about")
    }
    if case .keepNewest(let by) = duplicates { refuse(by, at: "duplicates.by", because: "records are compared by") }
  }
}
