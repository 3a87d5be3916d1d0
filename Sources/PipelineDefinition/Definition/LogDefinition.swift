/// Where a run's log goes, how much it tells and in what form.
public struct LogDefinition: Sendable, Hashable, Codable {
  /// How grave an event is. A log takes those of its own level and the graver ones.
  public enum Level: String, Sendable, Codable, CaseIterable, Comparable {
    case error, warning, info, debug

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    /// The graver one is the smaller.
    public static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }
  }

  /// What a line of a log looks like.
  public enum Format: String, Sendable, Codable, CaseIterable {
    /// Time, level and a sentence.
    case text
    /// An object with `time`, `level`, `event` and the event's own fields.
    case json
  }

  /// The file that lines are added to; standard error when `nil` or `-`.
  public var file: String?
  public var level: Level
  public var format: Format

  public init(file: String? = nil, level: Level = .info, format: Format = .text) {
    self.file = file
    self.level = level
    self.format = format
  }

  private enum CodingKeys: String, CodingKey, CaseIterable {
    case file, level, format
  }

  /// A text stands for the file with everything else as usual.
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
