extension ExportDefinition {
  static let keys = [
    "output", "columns", "predicate", "sort", "dateFormat", "limit", "gzip", "format", "dialect", "split",
    "incremental",
    "hash", "guardFormulas",
  ]

  static func read(
    _ value: JSONValue, path: String, vocabulary: DefinitionVocabulary, mistakes: MistakeList
  ) -> ExportDefinition? {
    guard let reader = ObjectReader(value, path: path, keys: keys, mistakes: mistakes) else { return nil }
    var export = ExportDefinition()
    if let dialect = reader.value("dialect") {
      export.dialect = DialectDefinition.read(
        dialect, path: reader.path("dialect"), named: vocabulary.namedDialects, mistakes: mistakes)
      for key in export.dialect.readingKeys {
        mistakes.add("\(reader.path("dialect")).\(key)", "is for reading, and has no effect on an export; remove it")
      }
    }
    export.output = reader.string("output")
    export.columns = (reader.items("columns") ?? []).compactMap {
      column($0.value, path: $0.path, vocabulary: vocabulary, mistakes: mistakes)
    }
    export.predicate = reader.string("predicate")
    export.sort = (reader.items("sort") ?? []).compactMap { sortKey($0.value, path: $0.path, mistakes: mistakes) }
    export.dateFormat = reader.formats("dateFormat", named: vocabulary.dateFormats) ?? export.dateFormat
    export.limit = reader.integer("limit", in: 0...Int.max)
    export.gzip = reader.bool("gzip")
    export.format = reader.choice("format", Format.self)
    if export.format == .jsonl, reader.value("dialect") != nil {
      reader.note("dialect", "is for CSV, and has no effect on JSON Lines; remove it, or the format jsonl")
    }
    if let value = reader.value("split") { export.split = split(value, path: reader.path("split"), mistakes: mistakes) }
    export.incremental = reader.bool("incremental") ?? false
    export.hash = reader.bool("hash") ?? false
    export.guardFormulas = reader.bool("guardFormulas") ?? false
    for mistake in export.contradictions(output: export.output) { reader.note(mistake.key, mistake.message) }
    return export
  }

  private static func split(_ value: JSONValue, path: String, mistakes: MistakeList) -> Split? {
    guard let reader = ObjectReader(value, path: path, keys: ["rows", "month"], mistakes: mistakes) else { return nil }
    let rows = reader.integer("rows", in: 1...Int.max).map(Split.rows)
    let month = reader.string("month").map(Split.month)
    if reader.value("rows") == nil, reader.value("month") == nil {
      mistakes.add(path, "has neither 'rows' nor 'month'; give one of them")
    } else if reader.value("rows") != nil, reader.value("month") != nil {
      mistakes.add(path, "has 'rows' and 'month'; files are split by one of them, so remove the other")
    }
    return rows ?? month
  }

  /// Settings that exclude each other, by key; `output` is the actual output, nil if it is not known yet.
  package func contradictions(output: String?) -> [(key: String, message: String)] {
    var found: [(key: String, message: String)] = []
    if guardFormulas, (output.map { self.format(of: $0) } ?? format) == .jsonl {
      found.append(("guardFormulas", "is for CSV and TSV, which spreadsheets open; remove it"))
    }
    if incremental, limit != nil, !sort.isEmpty {
      found.append(
        ("incremental", "with a limit and a sort it would skip new entries permanently; remove 'sort' or 'limit'"))
    }
    if case .month(let attribute)? = split, let first = sort.first, first.attribute != attribute {
      found.append(
        ("sort", "files by month are written one after the other; begin with '\(attribute)', or leave 'sort' out"))
    }
    guard let output else { return found }
    if let fault = formatFault(output) { found.append(fault) }
    if output == "-" {
      let fileOnly = [("split", split != nil), ("incremental", incremental), ("hash", hash)]
      for (key, isSet) in fileOnly where isSet {
        found.append((key, "needs an output file, and the output is standard output; name a file"))
      }
    } else {
      do {
        let template = try OutputTemplate(output, split: split)
        if hash, template.name.contains(where: \.isNewline) {
          found.append(("hash", "a file whose name has a line break can't be named in a checksum file; rename it"))
        }
      } catch {
        found.append(("output", error.message))
      }
    }
    return found
  }

  private static func column(
    _ value: JSONValue, path: String, vocabulary: DefinitionVocabulary, mistakes: MistakeList
  ) -> Column? {
    if case .string(let name) = value, !name.isEmpty { return Column(name) }
    let keys = ["name", "attribute", "format", "separator"]
    guard let reader = ObjectReader(value, path: path, keys: keys, mistakes: mistakes) else { return nil }
    guard let name = reader.string("name") ?? reader.string("attribute") else {
      reader.note("name", "is missing; give the column's label")
      return nil
    }
    return Column(
      name, attribute: reader.string("attribute"),
      format: reader.formats("format", named: vocabulary.dateFormats, alsoOfBytes: true) ?? [],
      separator: reader.string("separator"))
  }

  /// Reads `"date"`, `"-date"` for descending order, or `{"attribute": "date", "ascending": false}`.
  private static func sortKey(_ value: JSONValue, path: String, mistakes: MistakeList) -> SortKey? {
    if case .string(let text) = value {
      let attribute = text.hasPrefix("-") ? String(text.dropFirst()) : text
      if !attribute.isEmpty { return SortKey(attribute, ascending: attribute == text) }
    }
    let keys = ["attribute", "ascending"]
    guard let reader = ObjectReader(value, path: path, keys: keys, mistakes: mistakes) else { return nil }
    guard let attribute = reader.string("attribute") else {
      reader.note("attribute", "is missing; name the attribute to sort by")
      return nil
    }
    return SortKey(attribute, ascending: reader.bool("ascending") ?? true)
  }
}

extension ObjectReader {
  /// Date formats that compile: one, or a list of them.
  fileprivate func formats(
    _ key: String, named patterns: [String: String], alsoOfBytes: Bool = false
  ) -> [String]? {
    guard let value = value(key), let texts = strings(key), !texts.isEmpty else { return nil }
    var isValid = true
    for (index, text) in texts.enumerated() where !alsoOfBytes || BinaryFormat(rawValue: text) == nil {
      do {
        _ = try DateFormat(text, named: patterns)
      } catch {
        if case .array = value { note("\(key)[\(index)]", error.message) } else { note(key, error.message) }
        isValid = false
      }
    }
    return isValid ? texts : nil
  }
}
