/// A folder whose files a pipeline imports, and the folders that they are moved to afterwards.
public struct InboxDefinition: Sendable, Hashable, Codable {
  /// The folder, relative to the definition's file.
  public var folder: String
  /// Shell patterns (fnmatch(3): `*`, `?`, `[a-z]`) of the names of files to import.
  public var pattern: [String]
  /// Folder for imported files, relative to the inbox. It gets a subfolder for each day.
  public var processed: String
  /// Folder for files that could not be imported.
  public var failed: String
  /// Seconds for which a file must have been unchanged before it is considered complete, 0 to 86,400.
  public var settleSeconds: Double

  /// The patterns of an inbox that names none.
  public static let patternDefault = ["*.csv", "*.csv.gz"]
  /// The permitted values of `settleSeconds`.
  public static let settleSecondsRange = 0.0...86_400.0

  /// Makes an inbox. The parameters are the properties of the same names.
  public init(
    folder: String, pattern: [String] = patternDefault, processed: String = "processed", failed: String = "failed",
    settleSeconds: Double = 10
  ) {
    self.folder = folder
    self.pattern = pattern
    self.processed = processed
    self.failed = failed
    self.settleSeconds = settleSeconds
  }

  private enum CodingKeys: String, CodingKey, CaseIterable {
    case folder, pattern, processed, failed, settleSeconds
  }

  /// Reads an object, or a text that is only the folder.
  static func read(_ value: JSONValue, path: String, mistakes: MistakeList) -> InboxDefinition? {
    if case .string(let folder) = value, !folder.isEmpty { return InboxDefinition(folder: folder) }
    let keys = CodingKeys.allCases.map(\.rawValue)
    guard let reader = ObjectReader(value, path: path, keys: keys, mistakes: mistakes) else { return nil }
    var inbox = InboxDefinition(folder: reader.string("folder") ?? "")
    if reader.value("folder") == nil { mistakes.add(path, "'folder' is missing; name the folder that files arrive in") }
    inbox.pattern = reader.strings("pattern") ?? inbox.pattern
    if inbox.pattern.isEmpty {
      reader.note("pattern", "is empty, so no file could match; leave it out or add a pattern")
    }
    for (index, pattern) in inbox.pattern.enumerated() where pattern.contains("/") {
      let path = mistakes.contains("\(path).pattern[\(index)]") ? "\(path).pattern[\(index)]" : "\(path).pattern"
      mistakes.add(
        path, "'\(pattern)' contains a slash, and patterns match file names only; subfolders are not searched")
    }
    inbox.processed = reader.string("processed") ?? inbox.processed
    inbox.failed = reader.string("failed") ?? inbox.failed
    inbox.settleSeconds = reader.number("settleSeconds", in: settleSecondsRange) ?? inbox.settleSeconds
    return inbox
  }
}

extension ObjectReader {
  /// A number within bounds; fractions are allowed.
  func number(_ key: String, in range: ClosedRange<Double>) -> Double? {
    guard let number = number(key) else { return nil }
    if range.contains(number) { return number }
    note(
      key, "expected \(range.lowerBound.formatted()) to \(range.upperBound.formatted()), found \(number.formatted())")
    return nil
  }
}
