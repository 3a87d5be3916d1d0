/// What an export writes, and how.
public struct ExportDefinition: Sendable, Hashable, Codable {
  /// One column of the output.
  public struct Column: Sendable, Hashable, Codable {
    /// The label in the header.
    public var name: String
    /// The attribute whose values the column has.
    public var attribute: String
    /// For dates: formats as in the export's `dateFormat`, which applies when this is empty. For bytes:
    /// `base64` or `hex`; `base64` when this is empty.
    public var format: [String]
    /// The text between the values of the objects that a to-many relationship leads to; nil for a single value.
    public var separator: String?

    /// Makes a column. The parameters are the properties of the same names; by default its attribute has its name.
    public init(_ name: String, attribute: String? = nil, format: [String] = [], separator: String? = nil) {
      self.name = name
      self.attribute = attribute ?? name
      self.format = format
      self.separator = separator
    }
  }

  /// One key of the sort order.
  public struct SortKey: Sendable, Hashable, Codable {
    /// The attribute by whose values entries are sorted.
    public var attribute: String
    /// Whether the smallest value comes first.
    public var ascending: Bool

    /// Makes a key. The parameters are the properties of the same names.
    public init(_ attribute: String, ascending: Bool = true) {
      self.attribute = attribute
      self.ascending = ascending
    }
  }

  /// How the output is split into files.
  public enum Split: Sendable, Hashable {
    /// This many entries per file; the last file may have fewer.
    case rows(Int)
    /// One file per month (UTC) of this date attribute. Entries without a date go to a separate file.
    case month(String)
  }

  /// The format of the output.
  public enum Format: String, Sendable, Codable, CaseIterable {
    /// Comma-separated values, in the form that the dialect says.
    case csv
    /// The same with tabs between the values.
    case tsv
    /// JSON Lines: one object for each entry, see *Exporting* in the manual.
    case jsonl
  }

  /// The file to write, `-` for standard output; `nil` leaves it to the caller. Its name may contain `{date}` and
  /// `{time}` of the run in UTC, and `{part}` or `{month}` of a split export. Without `{part}` or `{month}`, these
  /// are inserted before the extensions.
  public var output: String?
  /// The columns in order; empty for every attribute of the entity.
  public var columns: [Column]
  /// The predicate, in `NSPredicate` format, that selects the entries.
  public var predicate: String?
  /// The sort order; empty for the order of the store's keys.
  public var sort: [SortKey]
  /// One ``DateFormat``, which writes only the parts of a date that it has letters for; or several: each
  /// date uses the first that preserves it bit for bit.
  public var dateFormat: [String]
  /// Most entries to write.
  public var limit: Int?
  /// Whether the output is compressed; if `nil`, when the output's name ends in `.gz`.
  public var gzip: Bool?
  /// The format of the output; if `nil`, the one that the output's name ends in, and `csv` for standard output.
  public var format: Format?
  /// The form of the output.
  public var dialect: DialectDefinition
  /// How the output is split; `nil` for one file.
  public var split: Split?
  /// Whether only entries added to the store since the last such export are written, see *Exporting* in the manual.
  public var incremental: Bool
  /// Whether a checksum file is written next to each output, see *Exporting* in the manual.
  public var hash: Bool
  /// Whether texts that a spreadsheet would run as formulas begin with an apostrophe, see *Exporting* in the manual.
  public var guardFormulas: Bool

  /// Makes an export. The parameters are the properties of the same names.
  public init(
    output: String? = nil, columns: [Column] = [], predicate: String? = nil, sort: [SortKey] = [],
    dateFormat: [String] = ["iso8601"], limit: Int? = nil, gzip: Bool? = nil, dialect: DialectDefinition = .rfc4180,
    split: Split? = nil, incremental: Bool = false, hash: Bool = false,
    format: Format? = nil, guardFormulas: Bool = false
  ) {
    self.output = output
    self.columns = columns
    self.predicate = predicate
    self.sort = sort
    self.dateFormat = dateFormat
    self.limit = limit
    self.gzip = gzip
    self.dialect = dialect
    self.split = split
    self.incremental = incremental
    self.hash = hash
    self.format = format
    self.guardFormulas = guardFormulas
  }

  /// Whether the output is compressed, `path` being the actual output.
  public func isGzip(_ path: String) -> Bool { gzip ?? path.lowercased().hasSuffix(".gz") }
}

extension ExportDefinition.Split: Codable {
  private enum CodingKeys: String, CodingKey {
    case rows, month
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    if let rows = try container.decodeIfPresent(Int.self, forKey: .rows) {
      self = .rows(rows)
    } else {
      self = .month(try container.decode(String.self, forKey: .month))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .rows(let rows): try container.encode(rows, forKey: .rows)
    case .month(let attribute): try container.encode(attribute, forKey: .month)
    }
  }
}
