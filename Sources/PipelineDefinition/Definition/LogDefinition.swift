/// Where a run's event log goes, how detailed it is, and in which format.
public struct LogDefinition: Sendable, Hashable, Codable {
  /// The severity of an event. A log contains the events of its level and of more severe levels.
  public enum Level: String, Sendable, Codable, CaseIterable, Comparable {
    /// What ends the run, or rejects records.
    case error
    /// What a user should look at.
    case warning
    /// The steps of the run.
    case info
    /// Details for finding a fault.
    case debug

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    /// The more severe level is the smaller.
    public static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }
  }

  /// The format of a log's lines.
  public enum Format: String, Sendable, Codable, CaseIterable {
    /// Time, level and a sentence.
    case text
    /// An object with `time`, `level`, `event` and the event's own fields.
    case json
  }

  /// The file that lines are appended to; standard error when `nil` or `-`.
  public var file: String?
  /// The least important events that are logged.
  public var level: Level
  /// The form of the lines.
  public var format: Format

  /// Makes a log. The parameters are the properties of the same names.
  public init(file: String? = nil, level: Level = .info, format: Format = .text) {
    self.file = file
    self.level = level
    self.format = format
  }

  private enum CodingKeys: String, CodingKey, CaseIterable {
    case file, level, format
  }

  /// Reads an object, or a text that is only the file.
  static func read(_ value: JSONValue, path: String, mistakes: MistakeList) -> LogDefinition? {
    if case .string(let file) = value, !file.isEmpty { return LogDefinition(file: file) }
    let keys = CodingKeys.allCases.map(\.rawValue)
    guard let reader = ObjectReader(value, path: path, keys: keys, mistakes: mistakes) else { return nil }
    var log = LogDefinition(file: reader.string("file"))
    log.level = reader.choice("level", Level.self) ?? log.level
    log.format = reader.choice("format", Format.self) ?? log.format
    return log
  }
}
