import Foundation
import OpenCoreData

/// Checks a definition as thoroughly as a run does before its first record, without running it. The result is
/// everything that is wrong with it, and what is not wrong but probably not intended.
public struct PipelineReview: Sendable {
  /// The definition's file as the caller named it; `nil` for one made in code.
  public let file: String?
  /// The files that it extends, nearest first.
  public let bases: [String]
  /// `nil` where it can't be used; `error` has the reason then.
  public let definition: PipelineDefinition?
  /// Every mistake in the file and in its use of the model.
  public let error: PipelineError?
  /// Each with its source location, like mistakes. They do not prevent a run.
  public let warnings: [PipelineError.Mistake]
  /// The entity of each import of the definition, with its model, which keeps what it leads to; none if one can't be
  /// determined.
  private let found: [(entity: NSEntityDescription, model: NSManagedObjectModel)]

  /// Reviews a file.
  ///
  /// - Parameters:
  ///   - file: The definition. One that can't be read is a `source-error`.
  ///   - environment: Variables, and the pipelines that `extends` may name.
  ///   - model: The model of the entity, instead of the definition's.
  ///   - modelReference: The same as a name, or as a file's path relative to the current directory.
  ///   - now: The clock of rules about the future.
  public init(
    contentsOf file: URL, environment: DefinitionEnvironment = DefinitionEnvironment(),
    model: NSManagedObjectModel? = nil, modelReference: String? = nil, now: Date = Date()
  ) {
    do throws(PipelineError) {
      let data = try PipelineDefinition.data(file)
      let (definition, mistakes) = try PipelineDefinition.reading(data, file: file, environment)
      self.init(
        definition?.using(model: modelReference), mistakes, file: file.relativePath, model: model, now: now)
    } catch {
      self.init(error)
    }
  }

  /// For a definition that could not be read at all.
  public init(_ error: PipelineError) {
    (file, self.error) = (error.file, error)
    (bases, definition, warnings, found) = ([], nil, [], [])
  }

  /// Reviews a definition made in code.
  public init(_ definition: PipelineDefinition, model: NSManagedObjectModel? = nil, now: Date = Date()) {
    let mistakes = MistakeList(definition.sourceMap)
    do throws(PipelineError) {
      try definition.check()
    } catch {
      mistakes.add(error)
    }
    self.init(definition, mistakes, file: nil, model: model, now: now)
  }

  private init(
    _ definition: PipelineDefinition?, _ mistakes: MistakeList, file: String?, model: NSManagedObjectModel?, now: Date
  ) {
    self.file = file
    bases = definition?.sourceMap.documents.dropFirst().compactMap(\.self) ?? []
    let imports = definition?.imports ?? []
    let checked = imports.enumerated().map { index, part in
      mistakes.within(definition?.importPath(index) ?? "") {
        Self.checkedEntity(part, mistakes, model: model, now: now)
      }
    }
    found = checked.contains { $0 == nil } ? [] : checked.compactMap(\.self)
    guard let definition, mistakes.mistakes.isEmpty else {
      error = mistakes.error(in: file)
      (self.definition, warnings) = (nil, [])
      return
    }
    (self.definition, error) = (definition, nil)
    warnings = definition.warnings
  }

  /// The definition's entity, nil if it can't be determined. Adds the mistakes in the use of the model. Parts with mistakes of their own are not compared with the model,
  /// because what could not be read of them would count as missing.
  private static func checkedEntity(
    _ definition: PipelineDefinition, _ mistakes: MistakeList, model: NSManagedObjectModel?, now: Date
  ) -> (entity: NSEntityDescription, model: NSManagedObjectModel)? {
    let wrong = Set(["model", "entity", "columns", "charts", "expect", "export"].filter(mistakes.isWrong))
      .union(definition.columns.indices.map(definition.columnPath).filter(mistakes.isWrong))
    func isSound(_ part: String) -> Bool { !wrong.contains(part) }
    guard isSound("model"), isSound("entity") else { return nil }
    do throws(PipelineError) {
      let model = try Self.model(definition, model)
      let entity = try definition.entity(in: model)
      if isSound("columns") {
        note({ () throws(PipelineError) in _ = try ImportSchemaCheck(definition, model: model, now: now) }, mistakes)
      } else {
        for index in definition.columns.indices where isSound(definition.columnPath(index)) {
          note({ () throws(PipelineError) in try check(index, of: definition, entity: entity, now: now) }, mistakes)
        }
      }
      if !definition.columns.isEmpty {
        if definition.charts != nil, isSound("charts") {
          note({ () throws(PipelineError) in _ = try EntryProfiler(definition, entity: entity) }, mistakes)
        }
        if isSound("columns"), isSound("expect") {
          note({ () throws(PipelineError) in _ = try EntryStatistics(definition, entity: entity) }, mistakes)
        }
        note({ () throws(PipelineError) in try checkPaths(definition) }, mistakes)
      }
      if definition.export != nil, isSound("export") {
        note({ () throws(PipelineError) in _ = try ExportSchemaCheck(definition, model: model) }, mistakes)
      }
      return (entity, model)
    } catch {
      mistakes.add(error)
      return nil
    }
  }

  private static func model(
    _ definition: PipelineDefinition, _ given: NSManagedObjectModel?
  ) throws(PipelineError) -> NSManagedObjectModel {
    do {
      return try RunModel(definition, given: given, store: definition.store.map(definition.path)).model
    } catch {
      if let mistake = error as? PipelineError { throw mistake }
      // A run reports what is wrong with an existing store.
      if definition.model == nil, let name = definition.vocabulary.model,
        let model = NSManagedObjectModel.embedded(named: name)
      {
        return model
      }
      var failure = PipelineError(path: "model", (error as NSError).localizedDescription)
      failure.isOfDisk = (error as NSError).isOfDisk
      throw failure
    }
  }

  /// With the definition's own sources, if it has any.
  private static func checkPaths(_ definition: PipelineDefinition) throws(PipelineError) {
    let inputs = InputFiles.expand(definition)
    let options = RunOptions()
    let store = definition.storeLocation(options)
    try ImportSchemaCheck.checkPaths(
      definition, options, inputs: inputs, hasInbox: definition.inbox != nil, store: store?.path,
      rejects: RejectsDestination.paths(for: inputs.map(\.name), definition, options, store: store))
  }

  /// Checks one column by itself; mistakes have the path of the column in the definition.
  private static func check(
    _ index: Int, of definition: PipelineDefinition, entity: NSEntityDescription, now: Date
  ) throws(PipelineError) {
    var alone = definition
    alone.columns = [definition.columns[index]]
    do throws(PipelineError) {
      _ = try ColumnSet(alone, types: entity.columnTypes, now: now)
    } catch {
      throw PipelineError(
        mistakes: error.mistakes.map { mistake in
          let rest = mistake.path.dropFirst("columns[0]".count)
          return PipelineError.Mistake(path: definition.columnPath(index) + rest, message: mistake.message)
        })
    }
  }

  private static func note(_ check: () throws(PipelineError) -> Void, _ mistakes: MistakeList) {
    do throws(PipelineError) {
      try check()
    } catch {
      mistakes.add(error)
    }
  }

  /// 0 for a definition that can be used, 74 where the disk failed, 66 for a file that can't be read, otherwise 78.
  public var exitCode: ExitCode { error?.exitCode ?? .ok }

  /// What the pipeline does, topic by topic; empty for one that can't be used.
  public var explanation: [PipelineExplanation.Topic] {
    guard let definition, !found.isEmpty else { return [] }
    return PipelineExplanation(definition, entities: found.map(\.entity)).topics
  }

  /// The columns as a Table Schema, those of several parts as a Data Package; nil for a definition that can't be used, or
  /// that only exports.
  ///
  /// - Throws: `EncodingError` for a bound of a rule that is not finite.
  public func tableSchema() throws -> TableSchema? {
    guard let definition, let entity = found.first?.entity else { return nil }
    if !definition.parts.isEmpty { return try DataPackage.schema(definition, found.map(\.entity)) }
    return definition.columns.isEmpty ? nil : try TableSchema(definition, entity)
  }

  /// One line per mistake and warning: `file:line:column: key path: message`.
  public var remarks: [String] {
    (error?.mistakes ?? []).map { $0.line(in: file) }
      + warnings.map { warning in
        var warning = warning
        warning.message = "warning: " + warning.message
        return warning.line(in: file)
      }
  }
}
