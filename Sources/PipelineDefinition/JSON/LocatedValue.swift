/// A JSON value that remembers in which document it stands and where, through merging and substitution.
package struct LocatedValue {
  enum Content {
    /// Null, a truth value, a number or a text.
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
    /// `nil` where the document is no text.
    var location: SourceLocation?
  }

  var content: Content
  var origin: Origin

  /// `locations` are those of the document's own reader, by key path.
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

  /// The bare value.
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

  /// Every value's origin, by its key path here.
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

  /// Gives each text, with its key path within its document, the chance to become another.
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
  /// Objects whose members mean something only together, so that one replaces the other whole.
  private static let indivisible: Set<String> = ["duplicates", "export.split"]
  /// What may be a text or an object that says more, and the key of that text there.
  private static let nameKeys = [
    "dialect": "name", "export.dialect": "name", "inbox": "folder", "log": "file",
  ]

  /// This definition on top of the one that it extends: members win, objects merge key by key, `columns` by name.
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

  /// A text in place of an object is the object with that text alone.
  private func expanded(_ path: String) -> LocatedValue {
    guard let key = Self.nameKeys[path], text != nil else { return self }
    var result = self
    result.content = .object([key: self])
    return result
  }

  /// A column of an inherited name changes that one, key by key; others come after the inherited ones.
  private func mergedColumns(over base: LocatedValue) -> LocatedValue {
    guard case .array(let own) = content, case .array(var columns) = base.content else { return self }
    var inherited: [String: Int] = [:]
    for (index, column) in columns.enumerated() {
      if let label = column.label { inherited[label] = index }
    }
    for column in own {
      // Each is changed once: of two with one name the second stays, to be told of.
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

  /// A column's name as headers are compared.
  private var label: String? { (text ?? members?["name"]?.text).map(ColumnLabel.folded) }

  /// A name alone is a column without further wishes.
  private var asColumn: LocatedValue {
    guard text != nil else { return self }
    var result = self
    result.content = .object(["name": self])
    return result
  }
}
