import Foundation
import OpenCoreData
import StoreInspection

/// Looks at stores for the command: paths in, and errors that say by which exit status to end.
public enum StoreReports {
  /// Why a store can't be looked at.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    public let description: String
    public let exitCode: ExitCode
  }

  /// What a store was found to be, ready to be shown.
  public struct Report: Sendable {
    /// For a person.
    public let text: String
    /// As the schema in `Pipelines` says, ended by a line break.
    public let json: String
    /// 65 where something is wrong with the store.
    public let exitCode: ExitCode
    /// Whether there is something to tell those who want to hear of what is wrong only.
    public let hasFindings: Bool
  }

  /// What is in a store; see `StoreInspection`.
  ///
  /// - Parameters:
  ///   - store: The path of the store.
  ///   - model: The path of a model; without one, what is found.
  ///   - embeddedModels: The names of models in the program that the store may be of.
  ///   - vocabulary: The program's, whose ledger is named in the report.
  public static func inspection(
    of store: String, model: String? = nil, embeddedModels: [String], vocabulary: DefinitionVocabulary
  ) throws(Failure) -> Report {
    try explained(store, model) { store, model in
      let inspection = try StoreInspection(
        storeAt: store, modelFile: model, embeddedModels: embeddedModels,
        tablePurposes: [vocabulary.ledgerPrefix: "ledger of \(vocabulary.program)'s imports"])
      return Report(
        text: inspection.text(), json: try json(inspection), exitCode: .ok, hasFindings: !inspection.remarks.isEmpty)
    }
  }

  /// What is wrong with a store; see `StoreVerification`.
  ///
  /// - Parameters:
  ///   - store: The path of the store.
  ///   - model: The path of a model; without one, what is found.
  ///   - embeddedModels: The names of models in the program that the store may be of.
  public static func verification(
    of store: String, model: String? = nil, embeddedModels: [String]
  ) throws(Failure) -> Report {
    try explained(store, model) { store, model in
      let verification = try StoreVerification(storeAt: store, modelFile: model, embeddedModels: embeddedModels)
      return Report(
        text: verification.text(), json: try json(verification),
        exitCode: verification.errors > 0 ? .dataError : .ok, hasFindings: !verification.findings.isEmpty)
    }
  }

  private static func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
  }

  private static func explained<Result>(
    _ store: String, _ model: String?, _ body: (URL, URL?) throws -> Result
  ) throws(Failure) -> Result {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: store, isDirectory: &isFolder) else {
      throw Failure(description: "there is no store \(store); check the path", exitCode: .noInput)
    }
    if isFolder.boolValue {
      throw Failure(description: "\(store) is a folder; name the store's .sqlite in it", exitCode: .noInput)
    }
    if let model, !FileManager.default.fileExists(atPath: model) {
      throw Failure(description: "there is no model \(model); check the path", exitCode: .noInput)
    }
    do {
      return try body(URL(fileURLWithPath: store), model.map { URL(fileURLWithPath: $0) })
    } catch {
      let known = error as NSError
      let isModel = [NSFileReadNoSuchFileError, NSFileReadCorruptFileError, NSFileReadUnknownError].contains(known.code)
      let failure = RunFailure(store: known, path: nil)
      throw Failure(
        description: known.localizedDescription,
        // Nothing is made here: what can't be opened is no store, as a pipe.
        exitCode: isModel || failure.exitCode == .cannotCreate ? .noInput : failure.exitCode)
    }
  }
}
