import Foundation
import SystemSupport
import OpenCoreData
import PersistentStores

extension RunModel {
  /// The model, or why there is none.
  ///
  /// - Parameters:
  ///   - options: Those of the command; its model takes precedence.
  ///   - store: The path of the store; nil for none.
  ///   - use: What the command does with the store afterwards.
  /// - Throws: `PipelineError` for a name that no embedded model has.
  static func found(
    _ definition: PipelineDefinition, options: RunOptions, store: String?, for use: StoreUse
  ) throws(PipelineError) -> Result<RunModel, RunFailure> {
    let isExport = use == .export
    do {
      if use == .modelAlone, options.model == nil, let store, mayExist(store) {
        try checkWAL(of: store, timeoutSeconds: options.lockTimeoutSeconds)
      }
      // The model alone is read here. A command that goes on to the store checks the log when it opens it.
      return .success(
        try RunModel(
          definition, given: options.model, store: store,
          access: Access(
            readsDamagedWAL: isExport ? options.readsDamagedWAL : true, timeoutSeconds: options.lockTimeoutSeconds),
          ignoresMetadata: isExport && options.ignoresMetadata))
    } catch {
      if let mistake = error as? PipelineError { throw mistake }
      if let missing = error as? RunModel.MissingModel {
        return .failure(RunFailure(code: .sourceError, exitCode: .noInput, message: missing.errorDescription ?? ""))
      }
      if let needless = error as? RunModel.UsableMetadata {
        return .failure(RunFailure(code: nil, exitCode: .usage, message: needless.errorDescription ?? ""))
      }
      let error = error as NSError
      return .failure(
        isExport
          ? RunFailure(reading: error, path: store, isIncremental: definition.export?.incremental == true)
          : RunFailure(store: error, path: store))
    }
  }

  /// What a command does with the store that it finds the model for.
  enum StoreUse {
    /// Exports it.
    case export
    /// Opens it for another purpose, and checks its log then.
    case opened
    /// Nothing else.
    case modelAlone
  }

  /// Other reasons why the store can't be read are those of the search for the model.
  private static func checkWAL(of store: String, timeoutSeconds: Double) throws {
    do {
      _ = try OpenedDatabase.openForReading(store, timeoutSeconds: timeoutSeconds)
    } catch let error as NSError where error.isOfDamagedWAL {
      throw error
    } catch {}
  }

  /// The failure of an export of a store whose model is unknown.
  func unknownModel(ofExported store: String?) -> RunFailure {
    // The notes that follow describe what is guessed.
    let reasons = notes.prefix { !$0.hasPrefix("The model was derived") }.joined(separator: " ")
    return RunFailure(
      code: nil, exitCode: .dataError,
      message: "the model of the store \(store ?? "") is unknown. \(reasons) Name its model with --model, or add "
        + "--guess-model to export columns with the names and types that its tables have")
  }

  /// The failure of an import or a comparison with a store whose model is unknown.
  static func unknownModel(of store: String?) -> RunFailure {
    RunFailure(
      code: nil, exitCode: .dataError,
      message: "the model of the store \(store ?? "") is unknown: no known model is compatible with it, and "
        + "it keeps none. Name its model with --model, or in the pipeline")
  }
}
