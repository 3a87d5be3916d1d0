/// A JSON value with its document and source location, which survive merging and substitution.
package struct LocatedValue {
  enum Content {
    /// Null, a Boolean, a number or a text.
    case leaf(JSONValue)
    case array([LocatedValue])
    case object([String: LocatedValue])
  }

  /// Where a value was written.
  package struct Origin: Sendable, Hashable {
    /// Index of the document in the chain of `extends`, 0 being the definition itself.
    var document = 0
    /// Key path within that document.
    var path = ""
    /// `nil` if the document was not read from text.
    var location: SourceLocation?
  }

  var content: Content
  var origin: Origin

  /// Attaches origins to a value. `locations` are those of the document's parser, by key path.
  init(_ value: JSONValue, locations: [String: SourceLocation], document: Int, path: String = "") {
    origin = Origin(document: document, path: path, location: locations[path])
    switch value {
    case .null, .bool, .number, .string:
      content = .leaf(value)
    case .array(let items):
      content = .array(
        items.enumerated().map { index, item in
          LocatedValue(item, locations: locations, document: document, path: "\(path)[\(index)]")
        })
    case .object(let members):
      var located: [String: LocatedValue] = [:]
      for (key, member) in members {
        located[key] = LocatedValue(
          member, locations: locations, document: document, path: path.isEmpty ? key : "\(path).\(key)")
      }
      content = .object(located)
    }
  }

  /// The value without its origins.
  var value: JSONValue {
    switch content {
    case .leaf(let value): value
    case .array(let items): .array(items.map(\.value))
    case .object(let members): .object(members.mapValues(\.value))
    }
  }

  var text: String? {
    guard case .leaf(.string(let text)) = content else { return nil }
    return text
  }

  var members: [String: LocatedValue]? {
    guard case .object(let members) = content else { return nil }
    return members
  }

  /// The origin of every value, by its key path in this tree.
  func origins(path: String = "") -> [String: Origin] {
    var origins: [String: Origin] = [:]
    collect(path, into: &origins)
    return origins
  }

  private func collect(_ path: String, into origins: inout [String: Origin]) {
    origins[path] = origin
    switch content {
    case .leaf: break
    case .array(let items):
      for (index, item) in items.enumerated() { item.collect("\(path)[\(index)]", into: &origins) }
    case .object(let members):
      for (key, member) in members { member.collect(path.isEmpty ? key : "\(path).\(key)", into: &origins) }
    }
  }

  /// Replaces each text; `change` receives the text and its origin.
  mutating func mapTexts(_ change: (_ text: String, _ origin: Origin) -> String) {
    switch content {
    case .leaf(.string(let text)):
      content = .leaf(.string(change(text, origin)))
    case .leaf: break
    case .array(var items):
      for index in items.indices { items[index].mapTexts(change) }
      content = .array(items)
    case .object(var members):
      for key in members.keys.sorted() { members[key]?.mapTexts(change) }
      content = .object(members)
    }
  }
}

// MARK: Merging

extension LocatedValue {
  /// Objects whose members are meaningful only together, so that an overriding one replaces the whole object.
  private static let indivisible: Set<String> = ["duplicates", "export.split"]
  /// Values that may be a text or an object, with the key that the text has in the object.
  private static let nameKeys = [
    "dialect": "name", "export.dialect": "name", "inbox": "folder", "log": "file",
  ]

  /// Merges this definition over the one that it extends: its members take precedence, objects merge key by key,
  /// `columns` by name.
  func merged(over base: LocatedValue, path: String = "") -> LocatedValue {
    guard let own = expanded(path).members, var merged = base.expanded(path).members, !Self.indivisible.contains(path),
      members != nil
    else { return self }
    for (key, member) in own {
      let memberPath = path.isEmpty ? key : "\(path).\(key)"
      guard let inherited = merged[key] else {
        merged[key] = member
        continue
      }
      merged[key] =
        memberPath == "columns"
        ? member.mergedColumns(over: inherited) : member.merged(over: inherited, path: memberPath)
    }
    var result = self
    result.content = .object(merged)
    return result
  }

  /// A text in place of an object, as the object that it abbreviates.
  private func expanded(_ path: String) -> LocatedValue {
    guard let key = Self.nameKeys[path], text != nil else { return self }
    var result = self
    result.content = .object([key: self])
    return result
  }

  /// A column with an inherited name changes the inherited column, key by key; other columns follow the inherited
  /// ones.
  private func mergedColumns(over base: LocatedValue) -> LocatedValue {
    guard case .array(let own) = content, case .array(var columns) = base.content else { return self }
    var inherited: [String: Int] = [:]
    for (index, column) in columns.enumerated() {
      if let label = column.label { inherited[label] = index }
    }
    for column in own {
      // Each inherited column is changed once: of two columns with the same name the second stays and is reported as
      // a mistake.
      if let label = column.label, let index = inherited.removeValue(forKey: label) {
        columns[index] = column.asColumn.merged(over: columns[index].asColumn, path: "columns[]")
      } else {
        columns.append(column)
      }
    }
    var result = self
    result.content = .array(columns)
    return result
  }

  /// A column's name in the form in which headers are compared.
  private var label: String? { (text ?? members?["name"]?.text).map(ColumnLabel.folded) }

  /// A name alone, as the object that it abbreviates.
  private var asColumn: LocatedValue {
    guard text != nil else { return self }
    var result = self
    result.content = .object(["name": self])
    return result
  }
}
