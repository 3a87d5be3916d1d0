/// What an export writes and how.
public struct ExportDefinition: Sendable, Hashable, Codable {
  /// One column of the output.
  public struct Column: Sendable, Hashable, Codable {
    /// The label in the header.
    public var name: String
    public var attribute: String
    /// For dates, as the export's `dateFormat`, which is taken when this is empty.
    public var format: [String]

    public init(_ name: String, attribute: String? = nil, format: [String] = []) {
      self.name = name
      self.attribute = attribute ?? name
      self.format = format
    }
  }

  /// One key of the order.
  public struct SortKey: Sendable, Hashable, Codable {
    public var attribute: String
    public var ascending: Bool

    public init(_ attribute: String, ascending: Bool = true) {
      self.attribute = attribute
      self.ascending = ascending
    }
  }

  /// The file to write, `-` for standard output; `nil` leaves it to the caller.
  public var output: String?
  /// The columns in order; empty stands for every attribute of the entity.
  public var columns: [Column]
  /// `NSPredicate` format text that picks the entries.
  public var predicate: String?
  /// Empty stands for the order of the store's keys.
  public var sort: [SortKey]
  /// One ``DateFormat``, which writes what of a date it has letters for; or several, of which a date takes the first
  /// that brings it back bit for bit.
  public var dateFormat: [String]
  /// Most entries to write.
  public var limit: Int?
  /// `nil`: as the output's name says (`.gz`).
  public var gzip: Bool?
  public var dialect: DialectDefinition

  public init(
    output: String? = nil, columns: [Column] = [], predicate: String? = nil, sort: [SortKey] = [],
    dateFormat: [String] = ["iso8601"], limit: Int? = nil, gzip: Bool? = nil, dialect: DialectDefinition = .rfc4180
  ) {
    self.output = output
    self.columns = columns
    self.predicate = predicate
    self.sort = sort
    self.dateFormat = dateFormat
    self.limit = limit
    self.gzip = gzip
    self.dialect = dialect
  }

  /// Whether the output is compressed, `path` being where it really goes.
  public func isGzip(_ path: String) -> Bool { gzip ?? path.lowercased().hasSuffix(".gz") }
}

extension ExportDefinition {
  static let keys = ["output", "columns", "predicate", "sort", "dateFormat", "limit", "gzip", "dialect"]

  static func read(_ value: JSONValue, path: String, mistakes: MistakeList) -> ExportDefinition? {
    guard let reader = ObjectReader(value, path: path, keys: keys, mistakes: mistakes) else { return nil }
    var export = ExportDefinition()
    if let dialect = reader.value("dialect") {
      export.dialect = DialectDefinition.read(dialect, path: reader.path("dialect"), mistakes: mistakes)
    }
    export.output = reader.string("output")
    export.columns = (reader.items("columns") ?? []).compactMap { column($0.value, $0.path, mistakes) }
    export.predicate = reader.string("predicate")
    export.sort = (reader.items("sort") ?? []).compactMap { sortKey($0.value, $0.path, mistakes) }
    export.dateFormat = reader.dateFormats("dateFormat") ?? export.dateFormat
    export.limit = reader.integer("limit", in: 0...Int.max)
    export.gzip = reader.bool("gzip")
    return export
  }

  private static func column(_ value: JSONValue, _ path: String, _ mistakes: MistakeList) -> Column? {
    if case .string(let name) = value, !name.isEmpty { return Column(name) }
    let keys = ["name", "attribute", "format"]
    guard let reader = ObjectReader(value, path: path, keys: keys, mistakes: mistakes) else { return nil }
    guard let name = reader.string("name") ?? reader.string("attribute") else {
      reader.note("name", "is missing; give the column's label")
      return nil
    }
    return Column(name, attribute: reader.string("attribute"), format: reader.dateFormats("format") ?? [])
  }

  /// `"date"`, `"-date"` for the greatest first, or `{"attribute": "date", "ascending": false}`.
  private static func sortKey(_ value: JSONValue, _ path: String, _ mistakes: MistakeList) -> SortKey? {
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
  fileprivate func dateFormats(_ key: String) -> [String]? {
    guard let value = value(key), let texts = strings(key), !texts.isEmpty else { return nil }
    var isSound = true
    for (index, text) in texts.enumerated() {
      do {
        _ = try DateFormat(text)
      } catch {
        if case .array = value { note("\(key)[\(index)]", error.message) } else { note(key, error.message) }
        isSound = false
      }
    }
    return isSound ? texts : nil
  }
}
