import Foundation

/// Reads a definition and all that it extends into one tree: variables substituted, relative paths rebased to the
/// definition's folder, members merged, each with its source location.
struct DefinitionLoader {
  /// The longest chain of definitions that extend one another.
  static let documentsMax = 16
  /// The size of the largest pipeline file.
  static let documentBytesMax = 4 << 20

  /// One document of the chain.
  private struct Document {
    /// The document's name in messages.
    let name: String?
    /// The path from the definition's folder to this document's folder, empty or with a trailing `/`.
    let prefix: String
    /// Equal for the same file, whatever path names it.
    let identity: String
  }

  private let environment: DefinitionEnvironment
  private let file: URL?
  private var documents: [Document] = []
  private var notes: [(note: EnvironmentText.Note, origin: LocatedValue.Origin)] = []

  init(file: URL?, environment: DefinitionEnvironment) {
    self.file = file
    self.environment = environment
  }

  /// Loads the definition.
  ///
  /// - Returns: the merged tree, its source map, and the mistakes of substitution in values that were not overridden.
  /// - Throws: `PipelineError` if nothing further can be read: for a syntax error, and for a base that can't be read.
  mutating func load(
    _ data: Data
  ) throws(PipelineError) -> (value: JSONValue, sourceMap: SourceMap, mistakes: MistakeList) {
    let identity = file.map(Self.identity) ?? ""
    documents = [Document(name: file?.relativePath, prefix: "", identity: identity)]
    var tree = try read(data)
    if case .object(var members) = tree.content {
      for key in Self.ownKeys { members[key] = nil }
      tree.content = .object(members)
    }
    var sourceMap = SourceMap(origins: tree.origins(), documents: documents.map(\.name))
    let mistakes = MistakeList(sourceMap)
    let remaining = Set(sourceMap.origins.values)
    for (note, origin) in notes where remaining.contains(origin) {
      switch note {
      case .mistake(let message): mistakes.addUnreadable(origin, message)
      case .defaulted(let name): sourceMap.defaulted.append(.init(name: name, origin: origin))
      }
    }
    return (tree.value, sourceMap, mistakes)
  }

  /// Keys of a file that do not describe the pipeline itself.
  static let ownKeys = ["extends", "$schema"]

  /// A file's name without its folder and endings, for a schema without a name of its own.
  private static func stem(of name: String?) -> String {
    let file = name?.split(separator: "/").last ?? "table"
    return String(file.split(separator: ".").first ?? "table")
  }

  // MARK: Documents

  /// Reads the document that was added last and merges it over what it extends.
  private mutating func read(_ data: Data) throws(PipelineError) -> LocatedValue {
    let index = documents.count - 1
    guard data.count <= Self.documentBytesMax else {
      let size = "has more than \(Self.documentBytesMax >> 20) MiB, the most that a pipeline may have; check the path"
      throw PipelineError(mistakes: [inDocument(.init(path: "", message: size), index)])
    }
    var tree: LocatedValue
    do throws(PipelineError) {
      var reader = JSONLocatingParser(data)
      tree = LocatedValue(try reader.read(), locations: reader.locations, document: index)
    } catch {
      throw PipelineError(mistakes: error.mistakes.map { mistake in inDocument(mistake, index) })
    }
    substitute(in: &tree)
    if TableSchemaReader.isSchema(tree) {
      var reader = TableSchemaReader(tree)
      tree = reader.pipeline(name: Self.stem(of: documents[index].name))
      notes += reader.mistakes.map { (.mistake($0), tree.origin) }
    }
    let prefix = documents[index].prefix
    if !prefix.isEmpty { Self.anchor(&tree, prefix: prefix) }
    guard let extends = tree.members?["extends"], extends.value != .null else { return tree }
    guard let requested = extends.text, !requested.isEmpty else {
      let found = extends.text == nil ? extends.value.kind : "an empty text"
      throw mistake(extends, "expected the path of a definition, or the name of a pipeline, found \(found)")
    }
    return tree.merged(over: try base(named: requested, extends: extends))
  }

  private mutating func substitute(in tree: inout LocatedValue) {
    let variables = environment.variables
    var notes: [(EnvironmentText.Note, LocatedValue.Origin)] = []
    tree.mapTexts { text, origin in
      var substitution = EnvironmentText(variables)
      let result = substitution.substituted(text)
      notes += substitution.notes.map { ($0, origin) }
      if let problem = StoreAddress.problem(of: result, at: origin.path) { notes.append((.mistake(problem), origin)) }
      return result
    }
    self.notes += notes
  }

  /// Reads what `requested` names, merged with what it extends in turn.
  private mutating func base(named requested: String, extends: LocatedValue) throws(PipelineError) -> LocatedValue {
    for case (.mistake(let message), let origin) in notes where origin == extends.origin {
      throw mistake(extends, message)
    }
    let isPath = requested.contains("/") || requested.hasSuffix(".json")
    let candidates = isPath ? [.file(url(of: requested))] : environment.bases(requested)
    guard !candidates.isEmpty else {
      let hint = NearestName.hint(for: requested, in: environment.names)
      throw mistake(
        extends,
        "the pipeline '\(requested)' was not found\(hint); a file is named by its path, such as ./\(requested).json")
    }
    let known = Set(documents.map(\.identity))
    guard let base = candidates.first(where: { !known.contains(Self.identity($0, requested)) }) else {
      throw mistake(extends, "the definitions extend one another in a circle: \(chain(and: requested)); break it")
    }
    guard documents.count <= Self.documentsMax else {
      throw mistake(
        extends, "more than \(Self.documentsMax) definitions extend one another: \(chain(and: requested)); use fewer")
    }
    switch base {
    case .file(let url): return try read(url, requested: isPath ? requested : url.path, extends: extends)
    case .definition(let definition):
      documents.append(
        Document(name: "built-in \(definition.name)", prefix: "", identity: Self.identity(base, requested)))
      return LocatedValue(definition.minimalJSON, locations: [:], document: documents.count - 1)
    }
  }

  private mutating func read(
    _ url: URL, requested: String, extends: LocatedValue
  ) throws(PipelineError) -> LocatedValue {
    if let problem = PipelineDefinition.kindProblem(url) {
      throw mistake(extends, "can't read the base of \(chain(and: requested)): \(problem)")
    }
    let data: Data
    do {
      data = try Data(contentsOf: url)
    } catch {
      let cause = error as NSError
      var failure = mistake(
        extends, "can't read the base of \(chain(and: requested)): \(cause.reasonWithAdvice)")
      failure.isOfDisk = cause.isOfDisk
      throw failure
    }
    let path = DefinitionPath.joined(documents.last?.prefix ?? "", requested)
    let folder = file.map { DefinitionPath.folder(of: $0.relativePath) } ?? ""
    documents.append(
      Document(
        name: DefinitionPath.joined(folder, path), prefix: DefinitionPath.folder(of: path),
        identity: Self.identity(url)))
    return try read(data)
  }

  private func url(of requested: String) -> URL {
    DefinitionPath.url(
      DefinitionPath.joined(documents.last?.prefix ?? "", requested),
      from: file?.absoluteURL.deletingLastPathComponent())
  }

  private static func identity(_ url: URL) -> String { url.resolvingSymlinksInPath().path }

  private static func identity(_ base: DefinitionEnvironment.Base, _ name: String) -> String {
    switch base {
    case .file(let url): identity(url)
    case .definition: "built-in \(name)"
    }
  }

  // MARK: Paths

  /// Rebases the relative paths of a base to the definition's folder.
  private static func anchor(_ tree: inout LocatedValue, prefix: String) {
    tree.mapTexts { text, origin in
      guard PipelineDefinition.pathKeys.contains(DefinitionPath.pattern(origin.path)), !text.isEmpty, text != "-"
      else { return text }
      if origin.path == "model", !PipelineDefinition.isModelPath(text) { return text }
      if StoreAddress.isAddress(text) { return text }
      return DefinitionPath.joined(prefix, text)
    }
  }

  // MARK: Mistakes

  private func mistake(_ value: LocatedValue, _ message: String) -> PipelineError {
    let sourceMap = SourceMap(documents: documents.map(\.name))
    return PipelineError(mistakes: [sourceMap.mistake(at: value.origin, message)])
  }

  private func inDocument(_ mistake: PipelineError.Mistake, _ document: Int) -> PipelineError.Mistake {
    var mistake = mistake
    mistake.file = document == 0 ? nil : documents[document].name
    return mistake
  }

  /// The names of all documents, followed by the requested one.
  private func chain(and requested: String) -> String {
    (documents.map { $0.name ?? "the definition" } + [requested]).joined(separator: " → ")
  }
}

extension PipelineDefinition {
  /// Key paths whose texts are file paths: those of a base are relative to the base's own folder.
  static let pathKeys: Set<String> = [
    "source", "source[]", "inbox", "inbox.folder", "store", "report", "report[]", "rejects", "log", "log.file",
    "export.output", "notify.webhooks[].url.file", "notify.webhooks[].headers[].value.file", "notify.ping.url.file",
    "notify.commands[].environment[].value.file", "model", "parts[].source", "parts[].source[]", "parts[].inbox",
    "parts[].inbox.folder",
  ]
}
