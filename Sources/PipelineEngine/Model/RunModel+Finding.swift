import Foundation
import OpenCoreData

extension RunModel {
  /// The model, or why there is none.
  ///
  /// - Parameter reading: The options of an export, which say what of a damaged store is read; nil for other commands.
  /// - Throws: `PipelineError` for a name that no embedded model has.
  static func found(
    _ definition: PipelineDefinition, given: NSManagedObjectModel?, store: String?, reading: RunOptions? = nil
  ) throws(PipelineError) -> Result<RunModel, RunFailure> {
    do {
      // The model alone is read here. A command that goes on to the store checks the log when it opens it.
      return .success(
        try RunModel(
          definition, given: given, store: store, readsDamagedLog: reading?.readsDamagedLog ?? true,
          ignoresMetadata: reading?.ignoresMetadata ?? false))
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
        reading == nil ? RunFailure(store: error, path: store) : RunFailure(reading: error, path: store))
    }
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
      message: "it is unknown what the store \(store ?? "") may contain: no known model is compatible with it, and "
        + "it keeps none. Name its model with --model, or in the pipeline")
  }
}
