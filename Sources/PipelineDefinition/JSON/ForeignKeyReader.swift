/// Makes links of the foreign keys of a Data Package's resources.
///
/// The fields of a foreign key become columns that lead over a relationship to the attributes of the fields that they
/// refer to; a record that leads to nothing is rejected. The relationship is named by `relationship` in the foreign key,
/// or by its first field, without `_id` at the end.
struct ForeignKeyReader {
  /// What can't be said with a source location of its own.
  private(set) var mistakes: [String] = []
  private let resources: [LocatedValue]
  private let names: [String]
  /// For each resource the indices of those that it refers to.
  private var references: [Set<Int>]

  init(_ resources: [LocatedValue]) {
    self.resources = resources
    names = resources.map { $0.members?["name"]?.text ?? "" }
    references = Array(repeating: [], count: resources.count)
    for name in Set(names) where names.count(where: { $0 == name }) > 1 {
      mistakes.append("the name '\(name)' is that of several resources; give each its own")
    }
  }

  /// Replaces the foreign keys among the members of a resource by links of its fields.
  mutating func link(_ members: inout [String: LocatedValue], in resource: LocatedValue) {
    guard let keys = members.removeValue(forKey: "foreignKeys"), let fields = members["fields"],
      case .array(var columns) = fields.content
    else { return }
    guard case .array(let items) = keys.content else {
      mistakes.append("'foreignKeys' of \(resource.resourceName) is not a list; write one")
      return
    }
    for item in items { link(item, &columns, in: resource) }
    members["fields"] = fields.holding(.array(columns))
  }

  private mutating func link(_ key: LocatedValue, _ columns: inout [LocatedValue], in resource: LocatedValue) {
    let own = key.members?["fields"]?.texts ?? []
    let subject = "the foreign key of '\(own.joined(separator: ", "))' in \(resource.resourceName)"
    guard let reference = key.members?["reference"]?.members, !own.isEmpty else {
      mistakes.append("\(subject) lacks its 'fields' or its 'reference'; add them")
      return
    }
    let name = reference["resource"]?.text ?? ""
    guard !name.isEmpty, name != resource.members?["name"]?.text else {
      mistakes.append(
        "\(subject) refers to records of its own resource, which an import can't find among the records that it has not "
          + "read; remove it")
      return
    }
    guard let target = names.firstIndex(of: name) else {
      mistakes.append(
        "\(subject) refers to the resource '\(name)', and no resource with a schema has this name"
          + NearestName.hint(for: name, in: names))
      return
    }
    let others = reference["fields"]?.texts ?? []
    guard others.count == own.count else {
      mistakes.append("\(subject) has \(own.count) fields and refers to \(others.count); name as many")
      return
    }
    guard let found = columns.indices(named: own), let targets = resources[target].fields(named: others) else {
      mistakes.append("\(subject) names a field that is not in its resource; correct it")
      return
    }
    let foreign = resources[target].foreignFields
    if let nested = others.first(where: foreign.contains) {
      mistakes.append("\(subject) refers to '\(nested)', which is itself in a foreign key; refer to other fields")
      return
    }
    let relationship = key.members?["relationship"]?.text ?? ForeignKey.relationship(of: own[0])
    link(found, of: &columns, to: targets, over: relationship, at: key, subject)
    if let index = names.firstIndex(of: resource.members?["name"]?.text ?? "") { references[index].insert(target) }
  }

  /// - Parameter targets: The fields of the other resource.
  private mutating func link(
    _ found: [Int], of columns: inout [LocatedValue], to targets: [LocatedValue], over relationship: String,
    at key: LocatedValue, _ subject: String
  ) {
    let by = targets.map { $0.members?["attribute"]?.text ?? $0.members?["name"]?.text ?? "" }
    for (index, attribute) in zip(found, by) {
      let column = columns[index]
      guard var members = column.members else { continue }
      if members["link"] != nil || members["attribute"]?.text?.contains(".") == true {
        mistakes.append("\(subject) has a field that leads to another object already; give it a field of its own")
        return
      }
      members["attribute"] = key.holding(.leaf(.string("\(relationship).\(attribute)")))
      if index == found[0] {
        members["link"] = key.holding(
          .object([
            "by": key.holding(.array(by.map { key.holding(.leaf(.string($0))) })),
            "ifMissing": key.members?["ifMissing"] ?? key.holding(.leaf(.string("reject"))),
          ]))
      }
      columns[index] = column.holding(.object(members))
    }
  }

  /// The indices of the resources, each after those that it refers to.
  mutating func sortedIndices() -> [Int] {
    var sorted: [Int] = []
    while let next = resources.indices.first(where: { !sorted.contains($0) && references[$0].isSubset(of: sorted) }) {
      sorted.append(next)
    }
    let rest = resources.indices.filter { !sorted.contains($0) }
    if !rest.isEmpty {
      let shown = rest.map { "'\(names[$0])'" }.joined(separator: ", ")
      mistakes.append(
        "the foreign keys of \(shown) refer to one another in a circle, so none of them can be imported first; remove "
          + "one")
    }
    return sorted + rest
  }
}

/// Foreign keys of Data Packages.
package enum ForeignKey {
  /// The relationship of a foreign key that names none, by its first field: `spot` for `spot` and `spot_id`.
  package static func relationship(of field: String) -> String {
    field.hasSuffix("_id") && field.count > 3 ? String(field.dropLast(3)) : field
  }
}

extension LocatedValue {
  /// A text, or a list of texts.
  fileprivate var texts: [String] {
    if case .array(let items) = content { return items.compactMap(\.text) }
    return text.map { [$0] } ?? []
  }

  fileprivate var resourceName: String { "'\(members?["name"]?.text ?? "a resource without a name")'" }

  /// The names of a resource's fields that are in foreign keys.
  fileprivate var foreignFields: Set<String> {
    guard case .array(let keys)? = members?["schema"]?.members?["foreignKeys"]?.content else { return [] }
    return Set(keys.flatMap { $0.members?["fields"]?.texts ?? [] })
  }

  /// The fields of a resource by their names; nil if one is missing.
  fileprivate func fields(named names: [String]) -> [LocatedValue]? {
    guard case .array(let fields)? = members?["schema"]?.members?["fields"]?.content else { return nil }
    return fields.indices(named: names)?.map { fields[$0] }
  }
}

extension [LocatedValue] {
  /// The indices of fields by their names; nil if one is missing.
  fileprivate func indices(named names: [String]) -> [Int]? {
    let found = names.compactMap { name in firstIndex { $0.members?["name"]?.text == name } }
    return found.count == names.count ? found : nil
  }
}
