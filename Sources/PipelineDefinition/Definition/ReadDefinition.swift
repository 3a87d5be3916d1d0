/// The commands by which the inputs of a pipeline are read, where they are not files of the machine: objects of a cloud's
/// storage, or files of Hadoop. They are started without a shell, and print the input on standard output.
///
/// ```swift
/// let read = ReadDefinition(run: ["hdfs", "dfs", "-cat", "{path}"])
/// print(read.words(path: "/logs/a.csv"))
/// ```
public struct ReadDefinition: Sendable, Hashable, Codable {
  /// The program and its arguments. `{path}` stands for the name of the input. A program with a slash is a path, which
  /// starts at the definition's folder; another one is looked up in `PATH`.
  public var run: [String]
  /// The program that prints some bytes only, and its arguments: from `{first}`, counted from 0, to `{last}`, which are
  /// `{length}` bytes. Nil where a worker has to read the whole input for each shard.
  public var range: [String]?
  /// Seconds after which a command is ended.
  public var timeoutSeconds: Double

  /// Makes commands. The parameters are the properties of the same names.
  public init(run: [String], range: [String]? = nil, timeoutSeconds: Double = 3600) {
    self.run = run
    self.range = range
    self.timeoutSeconds = timeoutSeconds
  }

  /// The command that prints an input.
  ///
  /// ```swift
  /// let words = ReadDefinition(run: ["cat", "{path}"]).words(path: "a.csv")
  /// ```
  ///
  /// - Parameter path: The name of the input.
  /// - Returns: The program and its arguments.
  public func words(path: String) -> [String] { Self.filled(run, ["path": path]) }

  /// The command that prints some bytes of an input; nil where there is none.
  package func words(path: String, bytes: Range<Int>) -> [String]? {
    range.map { words in
      Self.filled(
        words,
        [
          "path": path, "first": "\(bytes.lowerBound)", "last": "\(bytes.upperBound - 1)", "length": "\(bytes.count)",
        ])
    }
  }

  /// Each word stays one, whatever the name of an input has in it.
  private static func filled(_ words: [String], _ values: [String: String]) -> [String] {
    words.map { word in
      word.replacing(/\{(path|first|last|length)\}/) { match in values[String(match.output.1)] ?? String(match.output.0)
      }
    }
  }

  /// Whether an input's name would be an argument of its own that a command may take for an option.
  package func takesForOption(_ path: String) -> Bool {
    path.hasPrefix("-") && (run + (range ?? [])).contains { $0.hasPrefix("{path}") }
  }

  // MARK: Reading

  private static let keys = ["run", "range", "timeoutSeconds"]
  /// The permitted values of `timeoutSeconds`.
  static let timeoutSecondsRange = 0.1...86_400.0

  static func read(_ value: JSONValue, path: String, mistakes: MistakeList) -> ReadDefinition? {
    guard let reader = ObjectReader(value, path: path, keys: keys, mistakes: mistakes) else { return nil }
    var read = ReadDefinition(run: reader.strings("run", emptyAllowed: true) ?? [])
    read.range = reader.strings("range", emptyAllowed: true)
    read.timeoutSeconds = reader.number("timeoutSeconds", in: timeoutSecondsRange) ?? read.timeoutSeconds
    if reader.value("run") == nil { reader.note("run", "is missing; list the program and its arguments") }
    func check(_ key: String, _ words: [String], has placeholders: [[String]]) {
      if words.first?.isEmpty ?? true {
        return reader.note(key, "names no program; write the program first, and its arguments after it")
      }
      for names in placeholders where !words.contains(where: { word in names.contains { word.contains("{\($0)}") } }) {
        let list = names.map { "{\($0)}" }.joined(separator: " or ")
        reader.note(key, "has no \(list) among its arguments; write it where the command expects it")
      }
    }
    if reader.value("run") != nil { check("run", read.run, has: [["path"]]) }
    if let range = read.range { check("range", range, has: [["path"], ["first"], ["last", "length"]]) }
    return read
  }
}

extension PipelineDefinition {
  /// What a command can't read for.
  func checkRead(_ mistakes: MistakeList) {
    guard read != nil else { return }
    if !parts.isEmpty {
      mistakes.add("read", "the inputs of 'parts' are files; remove 'read', or import each entity alone")
    }
    if inbox != nil { mistakes.add("read", "the files of an 'inbox' are read as files; remove one of the two") }
    if verifyHash { mistakes.add("read", "'verifyHash' reads a file next to the input; remove one of the two") }
    if source.contains("-") {
      mistakes.add("read", "standard input needs no command; remove '-' from 'source', or 'read'")
    }
  }
}
