import Foundation
import OpenCoreData

extension RunModel {
  /// The model, or why there is none.
  ///
  /// - Throws: `PipelineError` for a name that no embedded model has.
  static func found(
    _ definition: PipelineDefinition, given: NSManagedObjectModel?, store: String?
  ) throws(PipelineError) -> Result<RunModel, RunFailure> {
    do {
      return .success(try RunModel(definition, given: given, store: store))
    } catch {
      if let mistake = error as? PipelineError { throw mistake }
      if let missing = error as? RunModel.MissingModel {
        return .failure(RunFailure(code: .sourceError, exitCode: .noInput, message: missing.errorDescription ?? ""))
      }
      return .failure(RunFailure(store: error as NSError, path: store))
    }
  }

  /// The failure of an import or a comparison with a store whose model is unknown.
  static func unknownModel(of store: String?) -> RunFailure {
    RunFailure(
      code: nil, exitCode: .dataError,
      message: "it is unknown what the store \(store ?? "") may contain: no known model is compatible with it, and "
        + "it keeps none. Name its model with --model, or in the pipeline")
  }
}
