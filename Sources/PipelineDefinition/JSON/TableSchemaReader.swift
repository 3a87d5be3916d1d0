/// Makes a pipeline's tree of a Table Schema, or of a Data Package with tabular resources (frictionless standards).
///
/// Every part keeps the source location that it has in the schema. Keys that a pipeline can't follow stay in the tree,
/// where its reader reports them; keys that only describe, such as `licenses`, are left out.
struct TableSchemaReader {
  /// What can't be said with a source location of its own.
  private(set) var mistakes: [String] = []
  private let root: LocatedValue
  /// The keys of the dialect of the table that is read.
  private var dialect: [String: LocatedValue] = [:]

  init(_ root: LocatedValue) { self.root = root }

  /// Whether a document is a schema or a package instead of a pipeline.
  static func isSchema(_ tree: LocatedValue) -> Bool {
    guard let members = tree.members, members["columns"] == nil else { return false }
    return ["fields", "resources"].contains { key in
      if case .array? = members[key]?.content { true } else { false }
    }
  }

  /// The pipeline; `name` is used if the document has none.
  mutating func pipeline(name: String) -> LocatedValue {
    var members = Self.meaningful(root.members ?? [:])
    if case .array(let resources)? = members.removeValue(forKey: "resources")?.content {
      let tables = resources.filter { $0.members?["schema"]?.members?["fields"] != nil }
      refuseOthers(resources)
      if tables.isEmpty {
        mistakes.append("the package has no resource with a schema of fields; add one for each file, or use a pipeline")
      }
      if tables.count > 1 {
        members["parts"] = root.holding(.array(parts(tables)))
      } else if let table = tables.first {
        members = self.table(members.merging(Self.flat(table)) { _, inner in inner }, in: table)
      }
    } else {
      members = table(members, in: root)
    }
    if members["name"] == nil { members["name"] = root.holding(.leaf(.string(name))) }
    return root.holding(.object(members))
  }

  /// A table without a description would be left out without a word.
  private mutating func refuseOthers(_ resources: [LocatedValue]) {
    for resource in resources where resource.members?["schema"]?.members?["fields"] == nil {
      let path = Self.firstPath(of: resource)
      let isTable = Self.tableEndings.contains { path.lowercased().hasSuffix($0) }
      guard isTable || resource.members?["schema"] != nil else { continue }
      let name = resource.members?["name"]?.text ?? path
      mistakes.append(
        resource.members?["schema"]?.text.map {
          "the schema of the resource '\(name)' is the file \($0); write its contents into the package"
        } ?? "the resource '\(name)' has no schema of fields; add one, or remove the resource")
    }
  }

  private static func firstPath(of resource: LocatedValue) -> String {
    guard let path = resource.members?["path"] else { return "" }
    if case .array(let items) = path.content { return items.first?.text ?? "" }
    return path.text ?? ""
  }

  private static let tableEndings = [".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".gz", ".zst", ".xz", ".bz2", ".zip"]

  /// A part for each resource, after those that its foreign keys refer to.
  private mutating func parts(_ resources: [LocatedValue]) -> [LocatedValue] {
    var keys = ForeignKeyReader(resources)
    let parts = resources.map { resource in
      var members = Self.flat(resource)
      keys.link(&members, in: resource)
      members = table(members, in: resource)
      for key in ["name", "description"] { members[key] = nil }
      if members["entity"] == nil { members["entity"] = resource.members?["name"] }
      return resource.holding(.object(members))
    }
    let order = keys.sortedIndices()
    mistakes += keys.mistakes
    return order.map { parts[$0] }
  }

  /// The members of a resource, with those of its schema.
  private static func flat(_ resource: LocatedValue) -> [String: LocatedValue] {
    var members = meaningful(resource.members ?? [:])
    let schema = members.removeValue(forKey: "schema")?.members ?? [:]
    return members.merging(meaningful(schema)) { _, inner in inner }
  }

  /// The members of a pipeline of one table.
  private mutating func table(
    _ members: [String: LocatedValue], in value: LocatedValue
  ) -> [String: LocatedValue] {
    var members = members
    dialect = [:]
    if let path = members.removeValue(forKey: "path") { members["source"] = path }
    if case .object(let own)? = members.removeValue(forKey: "dialect")?.content { readDialect(own) }
    if let encoding = members.removeValue(forKey: "encoding") { dialect["encoding"] = encoding }
    if let match = members.removeValue(forKey: "fieldsMatch") { readMatch(match) }
    if let key = members.removeValue(forKey: "primaryKey") { members["key"] = attributes(key, members["fields"]) }
    if let values = members.removeValue(forKey: "missingValues") { readMissing(values) }
    if let keys = members.removeValue(forKey: "foreignKeys") { refuse(keys) }
    if case .array(let fields)? = members.removeValue(forKey: "fields")?.content {
      members["columns"] = value.holding(.array(fields.map { column($0) }))
    }
    if !dialect.isEmpty { members["dialect"] = value.holding(.object(dialect)) }
    return members
  }

  /// The attributes of the fields that a primary key names.
  private func attributes(_ key: LocatedValue, _ fields: LocatedValue?) -> LocatedValue {
    guard case .array(let fields)? = fields?.content else { return key }
    func attribute(_ name: LocatedValue) -> LocatedValue {
      fields.first { $0.members?["name"]?.text == name.text }?.members?["attribute"] ?? name
    }
    guard case .array(let names) = key.content else { return attribute(key) }
    return key.holding(.array(names.map(attribute)))
  }

  /// Foreign keys need the other resources of a package.
  private mutating func refuse(_ keys: LocatedValue) {
    if case .array(let items) = keys.content, items.isEmpty { return }
    mistakes.append(
      "its foreign keys refer to other resources, and it has none; describe all of them in one Data Package, or remove "
        + "'foreignKeys'")
  }

  private static func meaningful(_ members: [String: LocatedValue]) -> [String: LocatedValue] {
    members.filter { !descriptive.contains($0.key) }
  }

  /// Keys that describe without a meaning for reading.
  private static let descriptive: Set = [
    "$schema", "title", "profile", "licenses", "sources", "contributors", "keywords", "homepage", "image", "version",
    "created", "id", "mediatype", "format", "bytes", "hash", "scheme", "type",
  ]

  // MARK: Dialect

  private mutating func readDialect(_ own: [String: LocatedValue]) {
    dialect = own
    for key in ["$schema", "name", "title", "description", "csvddfVersion", "caseSensitiveHeader", "headerJoin"] {
      dialect[key] = nil
    }
    if let token = dialect.removeValue(forKey: "nullSequence") { dialect["nullSequences"] = token }
  }

  /// A text, or in version 2 a list of one; `partial` is what a pipeline does anyway.
  private mutating func readMatch(_ value: LocatedValue) {
    var match = value
    if case .array(let items) = value.content, items.count == 1 { match = items[0] }
    if match.text != "partial" { dialect["fieldsMatch"] = match }
  }

  /// Texts, or in version 2 objects with a `value`.
  private mutating func readMissing(_ value: LocatedValue) {
    guard case .array(let items) = value.content else { return }
    let texts = items.map { $0.members?["value"] ?? $0 }
    if texts.map(\.text) == [""] { return }
    dialect["nullSequences"] = value.holding(.array(texts))
  }

  /// Takes over what a field says for all of them; `false` if another field says otherwise.
  private mutating func share(_ key: String, _ value: LocatedValue, of name: String) {
    if let other = dialect[key], other.value != value.value {
      mistakes.append("the field '\(name)' has another '\(key)' than others; a pipeline has one for all columns")
    }
    dialect[key] = value
  }

  // MARK: Fields

  private mutating func column(_ field: LocatedValue) -> LocatedValue {
    guard var members = field.members else { return field }
    let name = members["name"]?.text ?? ""
    let type = members.removeValue(forKey: "type")?.text
    let format = members.removeValue(forKey: "format")
    for key in ["description", "example", "rdfType", "bareNumber", "categories", "categoriesOrdered"] {
      members[key] = nil
    }
    if let title = members.removeValue(forKey: "title"),
      ColumnLabel.folded(title.text ?? "") != ColumnLabel.folded(name)
    {
      members["synonyms"] = title
    }
    for key in ["decimalChar", "groupChar", "trueValues", "falseValues"] {
      guard let value = members.removeValue(forKey: key) else { continue }
      share(key, value, of: name)
    }
    if type == "date" || type == "datetime", let format, let text = format.text, text != "default", text != "any" {
      do {
        members["formats"] = format.holding(.array([format.holding(.leaf(.string(try StrftimePattern.letters(text))))]))
      } catch {
        mistakes.append("the format of the field '\(name)': \(error.message)")
      }
    }
    if case .object(let constraints)? = members.removeValue(forKey: "constraints")?.content {
      members["rules"] = field.holding(.array(rules(constraints)))
    }
    return field.holding(.object(members))
  }

  /// One object for each constraint, as rules may be written.
  private func rules(_ constraints: [String: LocatedValue]) -> [LocatedValue] {
    constraints.sorted { $0.key < $1.key }.compactMap { key, value in
      if value.value == .bool(false) { return nil }
      return value.holding(.object([key: key == "enum" ? texts(value) : value]))
    }
  }

  /// The values of an `enum` as texts, in which form rules compare them.
  private func texts(_ value: LocatedValue) -> LocatedValue {
    guard case .array(let items) = value.content else { return value }
    return value.holding(
      .array(
        items.map { item in
          guard case .leaf(.number(let number)) = item.content else { return item }
          return item.holding(.leaf(.string(QuantityPattern.plain(number))))
        }))
  }
}

extension LocatedValue {
  /// Other content at the same source location.
  func holding(_ content: Content) -> LocatedValue {
    var value = self
    value.content = content
    return value
  }
}
