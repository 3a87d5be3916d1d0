import Foundation
import OpenCoreData

/// A definition looked at as closely as a run would before its first record, without running it: everything that is
/// wrong with it, and what is not wrong but likely not meant.
public struct PipelineReview: Sendable {
  /// The definition's file as it was named; `nil` for one made in code.
  public let file: String?
  /// The files that it extends, nearest first.
  public let bases: [String]
  /// `nil` where it can't be used; `error` says why then.
  public let definition: PipelineDefinition?
  /// Every mistake of the file and of what it asks of the model.
  public let error: PipelineError?
  /// Each with its place, like mistakes. A run does what the definition says all the same.
  public let warnings: [PipelineError.Mistake]
  private let entity: NSEntityDescription?

  /// Reviews a file.
  ///
  /// - Parameters:
  ///   - file: The definition. One that can't be read is a `source-error`.
  ///   - environment: Variables, and the pipelines that `extends` may name.
  ///   - model: The model of the entity, instead of the definition's.
  ///   - modelReference: Likewise as a name, or a file's path from the current directory.
  ///   - now: The clock of rules about the future.
  public init(
    contentsOf file: URL, environment: DefinitionEnvironment = DefinitionEnvironment(),
    model: NSManagedObjectModel? = nil, modelReference: String? = nil, now: Date = Date()
  ) {
    do throws(PipelineError) {
      let data = try PipelineDefinition.data(file)
      let (definition, mistakes) = try PipelineDefinition.reading(data, file: file, environment)
      self.init(definition?.using(model: modelReference), mistakes, file: file.relativePath, model, now)
    } catch {
      self.init(error)
    }
  }

  /// Of a definition of which nothing could be read.
  public init(_ error: PipelineError) {
    (file, self.error) = (error.file, error)
    (bases, definition, warnings, entity) = ([], nil, [], nil)
  }

  /// Reviews a definition made in code.
  public init(_ definition: PipelineDefinition, model: NSManagedObjectModel? = nil, now: Date = Date()) {
    let mistakes = MistakeList(definition.sourceMap)
    do throws(PipelineError) {
      try definition.check()
    } catch {
      for mistake in error.mistakes { mistakes.add(mistake.path, mistake.message) }
    }
    self.init(definition, mistakes, file: nil, model, now)
  }

  private init(
    _ definition: PipelineDefinition?, _ mistakes: MistakeList, file: String?, _ model: NSManagedObjectModel?,
    _ now: Date
  ) {
    self.file = file
    bases = definition?.sourceMap.documents.dropFirst().compactMap(\.self) ?? []
    entity = definition.flatMap { Self.fit($0, mistakes, model, now) }
    guard let definition, mistakes.mistakes.isEmpty else {
      error = PipelineError(file: file, mistakes: mistakes.sorted)
      (self.definition, warnings) = (nil, [])
      return
    }
    (self.definition, error) = (definition, nil)
    warnings = definition.warnings
  }

  /// Adds what does not fit the model. What has mistakes of its own is not held against the model: that which could
  /// not be read of it would be missed there.
  private static func fit(
    _ definition: PipelineDefinition, _ mistakes: MistakeList, _ model: NSManagedObjectModel?, _ now: Date
  ) -> NSEntityDescription? {
    let paths = mistakes.paths
    func isSound(_ part: String) -> Bool { !paths.contains { $0.hasPrefix(part) } }
    guard isSound("model"), isSound("entity") else { return nil }
    do throws(PipelineError) {
      let model = try Self.model(definition, model)
      let entity = try definition.entity(in: model)
      if isSound("columns") {
        note({ () throws(PipelineError) in _ = try ImportFit(definition, model: model, now: now) }, mistakes)
      } else {
        for index in definition.columns.indices where isSound(definition.columnPath(index)) {
          note({ () throws(PipelineError) in try check(index, of: definition, entity, now) }, mistakes)
        }
      }
      if !definition.columns.isEmpty {
        if definition.charts != nil, isSound("charts") {
          note({ () throws(PipelineError) in _ = try EntryProfiler(definition, entity: entity) }, mistakes)
        }
        note({ () throws(PipelineError) in try checkPlaces(definition) }, mistakes)
      }
      if definition.export != nil, isSound("export") {
        note({ () throws(PipelineError) in _ = try ExportFit(definition, model: model) }, mistakes)
      }
      return entity
    } catch {
      for mistake in error.mistakes { mistakes.add(mistake.path, mistake.message) }
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
      // What is wrong with a store that is there is for a run to tell.
      if definition.model == nil, let name = definition.vocabulary.model,
        let model = NSManagedObjectModel.embedded(named: name)
      {
        return model
      }
      throw PipelineError(path: "model", (error as NSError).localizedDescription)
    }
  }

  /// With the definition's own sources, if it has some.
  private static func checkPlaces(_ definition: PipelineDefinition) throws(PipelineError) {
    let inputs = InputFiles.expand(definition)
    let store = definition.store.map(definition.path)
    let options = RunOptions()
    try ImportFit.checkPlaces(
      definition, options, inputs: inputs, store: store,
      rejects: RejectsPlace.paths(for: inputs.map(\.name), definition, options, store: store))
  }

  /// One column by itself, told of where it stands.
  private static func check(
    _ index: Int, of definition: PipelineDefinition, _ entity: NSEntityDescription, _ now: Date
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
      for mistake in error.mistakes { mistakes.add(mistake.path, mistake.message) }
    }
  }

  /// 0 for a definition that can be used, 66 for a file that can't be read, otherwise 78.
  public var exitCode: ExitCode { error?.exitCode ?? .ok }

  /// What the pipeline does, topic by topic; empty for one that can't be used.
  public var explanation: [PipelineExplanation.Topic] {
    guard let definition, let entity else { return [] }
    return PipelineExplanation(definition, entity: entity).topics
  }

  /// The columns as a Table Schema; nil for a definition that can't be used, or that only exports.
  public func tableSchema() throws -> TableSchema? {
    guard let definition, let entity, !definition.columns.isEmpty else { return nil }
    return try TableSchema(definition, entity)
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
