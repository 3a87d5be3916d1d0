import Foundation
import PipelineEngine
import SurfJournal

extension RunOptions {
  /// Reads the options that every run has.
  init(_ arguments: Arguments) throws(CommandFailure) {
    self.init()
    // Only a run of a pipeline by its name is one of those that it notifies of.
    notifies = false
    // The command `seed` has no such option: other programs do not write to its store.
    if arguments.isGiven("store") { store = arguments.string("store") }
    if arguments.isGiven("lock-timeout"), let seconds = try arguments.seconds("lock-timeout") {
      lockTimeoutSeconds = seconds
    }
    timeoutSeconds = try arguments.seconds("timeout")
    logFile = arguments.string("log")
    logLevel = try arguments.choice("log-level", LogDefinition.Level.self)
    logFormat = try arguments.choice("log-format", LogDefinition.Format.self)
    isQuiet = arguments.has("quiet")
    programVersion = ProgramVersion.text
    allowsIncompleteSchema = arguments.isDeclared("incomplete-schema") && arguments.has("incomplete-schema")
    reports = try arguments.reports()
  }
}

extension RunOptions {
  /// Records how the pipeline, the entity and the model were named, for a replay of rejects.
  mutating func refer(
    to arguments: Arguments, pipeline: String? = nil, entity: String? = nil, model: String? = nil
  ) {
    let (pipeline, model) = (pipeline ?? arguments.string("pipeline"), model ?? arguments.string("model"))
    entityReference = entity ?? (arguments.isGiven("entity") ? arguments.string("entity") : nil)
    fillsAttributesByName = pipeline == nil && entityReference != nil
    pipelineReference =
      pipeline.map(PipelineCatalog.reference) ?? (fillsAttributesByName ? nil : PipelineDefinition.surfLog.name)
    modelReference = model.map(PipelineDefinition.modelReference)
    guard arguments.isDeclared("date-format") else { return }
    readingOptions = ReadingOptions.given(in: arguments)
    csvOptions = ReadingOptions.forCSV(in: arguments)
    let formats = arguments.strings("date-format")
    if !formats.isEmpty { dateFormats = formats }
  }
}

extension Arguments {
  /// The paths of `--report`; nil without one.
  func reports() throws(CommandFailure) -> [String]? {
    let paths = strings("report")
    for path in paths where ReportFormat(path: path) == nil {
      throw mistake("--report is '\(path)'; its ending must be \(ReportFormat.endings), which determines its format")
    }
    return paths.isEmpty ? nil : paths
  }

  /// What `--replace` or `--only-new` say about inputs that have changed since an import.
  func changedInputs() throws(CommandFailure) -> PipelineDefinition.ChangedInputPolicy? {
    let given = ["replace", "only-new", "again"].filter(has)
    if given.count > 1 {
      throw mistake("--\(given[0]) and --\(given[1]) exclude each other; leave one out")
    }
    return has("replace") ? .replace : has("only-new") ? .onlyNew : nil
  }
}

extension PipelineDefinition {
  /// The named definition, or one of all attributes of the named entity, or the default, with the changes of the
  /// options that every run has.
  init(
    _ arguments: Arguments, _ pipeline: String? = nil, entity: String? = nil, model: String? = nil
  ) throws(CommandFailure) {
    let entity = entity ?? (arguments.isGiven("entity") ? arguments.string("entity") : nil)
    if let name = pipeline ?? (arguments.isGiven("pipeline") ? arguments.string("pipeline") : nil) {
      self = try PipelineCatalog.find(name)
      if !parts.isEmpty, let entity { self = try part(of: entity, arguments) }
      if let entity { self.entity = entity }
    } else if let entity {
      self = PipelineDefinition(entity: entity, vocabulary: .journal)
    } else {
      self = .surfLog
    }
    self = using(model: model ?? arguments.string("model"))
    if arguments.isGiven("without-relationships") { changeImports { $0.relationships = .ignore } }
  }

  /// The part of a pipeline of several entities that fills one of them.
  func part(of entity: String, _ arguments: Arguments) throws(CommandFailure) -> PipelineDefinition {
    let found = imports.filter { $0.entity == entity }
    if found.count == 1 { return found[0] }
    let names = parts.map(\.entity)
    throw arguments.mistake(
      found.isEmpty
        ? "the pipeline '\(name)' has no part for \(entity)\(NearestName.hint(for: entity, in: names)); it has "
          + "parts for "
          + names.joined(separator: ", ")
        : "the pipeline '\(name)' has \(found.count) parts for \(entity), and it is unclear which one is meant; "
          + "correct the input and run the pipeline again")
  }

  /// Replaces the inputs of parts by those that options name as `ENTITY=FILE`; `-` is standard input.
  mutating func setInputs(_ texts: [String], of option: String, _ arguments: Arguments) throws(CommandFailure) {
    var files: [String: [String]] = [:]
    for text in texts {
      let found = parts.map(\.entity).first { text.hasPrefix($0 + "=") }
      guard let found, text.utf8.count > found.utf8.count + 1 else {
        let names = parts.map(\.entity)
        let typed = text.split(separator: "=", maxSplits: 1).first.map(String.init) ?? text
        throw arguments.mistake(
          "--\(option) is '\(text)', and the pipeline fills several entities: name one of "
            + "\(names.joined(separator: ", ")) and a file, such as \(names[0])=FILE"
            + NearestName.hint(for: typed, in: names))
      }
      let file = String(text.dropFirst(found.count + 1))
      files[found, default: []].append(baseDirectory == nil || file == "-" ? file : URL(fileURLWithPath: file).path)
    }
    for (entity, names) in files {
      let indices = parts.indices.filter { parts[$0].entity == entity }
      // A pass over links reads what an earlier part has read.
      for index in indices {
        (parts[index].source, parts[index].inbox) = (names, nil)
        parts[index].sourceOptional = false
      }
    }
  }

  /// The definition of an import, with the changes of its options.
  init(
    importing arguments: Arguments, _ pipeline: String? = nil, entity: String? = nil, model: String? = nil
  ) throws(CommandFailure) {
    try self.init(arguments, pipeline, entity: entity, model: model)
    guard parts.isEmpty || arguments.isDeclared("from") else {
      throw arguments.mistake(
        "the pipeline '\(name)' fills several entities, each from inputs of its own; run it with 'surfjournal run', "
          + "or name one of them with --entity")
    }
    if let rows = try arguments.integer("chunk-rows", in: Self.chunkRowsRange) { changeImports { $0.chunkRows = rows } }
    if arguments.isGiven("atomic") { atomic = true }
    try changeImports { definition throws(CommandFailure) in try definition.setReading(from: arguments) }
    if arguments.isDeclared("max-errors") { try setErrorPolicy(from: arguments) }
  }

  /// Sets how many rejected records are tolerated.
  mutating func setErrorPolicy(from arguments: Arguments) throws(CommandFailure) {
    let errors = try arguments.integer("max-errors", in: 0...Int.max)
    let percent = try arguments.percent("max-error-percent")
    if errors != nil || percent != nil {
      if arguments.has("stop-on-error") {
        throw arguments.mistake("--stop-on-error ends at the first error; leave it or the maximum out")
      }
      (errorPolicy, errorBudget) = (.skip, ErrorBudget(errors: errors, percent: percent))
    }
    if arguments.has("stop-on-error") { (errorPolicy, errorBudget) = (.stop, nil) }
  }
}

extension DialectDefinition {
  /// Sets the text for no value from `--null`, if the command has the option.
  mutating func setNull(from arguments: Arguments) throws(CommandFailure) {
    guard arguments.isGiven("null"), let token = arguments.string("null") else { return }
    null = token
    guard let fault = contradictions.first(where: { $0.key == "null" }) else { return }
    throw arguments.mistake("--null is '\(token)': \(fault.message)")
  }
}
